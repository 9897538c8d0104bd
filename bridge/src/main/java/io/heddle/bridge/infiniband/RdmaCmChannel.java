package io.heddle.bridge.infiniband;

import io.heddle.platform.DatagramCalls;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/** Event channel of RDMA CM, on which ids are created. Used by one thread at a time. */
final class RdmaCmChannel implements AutoCloseable {
  /** File descriptor that wakes no poll. */
  static final int NO_FD = -1;

  /* Offsets in the buffer: an address, two pollfds, a timespec. */
  private static final int POLLFDS_AT = 8;
  private static final int TIMESPEC_AT = 24;
  private static final int BUFFER_BYTES = 40;
  private static final int POLLFD_BYTES = 8;
  private static final short POLLIN = 1;

  private final String device;
  private final long channel;
  private final long buffer;

  /**
   * @param purpose purpose of RDMA CM on the device, for the message
   * @param wakeFd descriptor that ends a poll when it becomes readable; {@link #NO_FD} for none
   * @throws HeddleException if the library or its kernel module is missing
   */
  RdmaCmChannel(String device, String purpose, Arena arena, int wakeFd) {
    this.device = device;
    if (!RdmaCm.libraryIsPresent()) {
      throw new HeddleException(
          RdmaCm.LIBRARY + " can't be opened, by which " + purpose + "; install it");
    }
    channel = RdmaCm.CREATE_EVENT_CHANNEL.pointer();
    if (channel < 0) {
      throw new SystemCallException("rdma_create_event_channel for " + device, (int) -channel);
    }
    buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
    setPollDescriptor(buffer + POLLFDS_AT, Memory.getInt(channel));
    setPollDescriptor(buffer + POLLFDS_AT + POLLFD_BYTES, wakeFd);
  }

  private static void setPollDescriptor(long pollfd, int fd) {
    Memory.setInt(pollfd, fd);
    Memory.ALL.set(Memory.NATIVE_SHORT, pollfd + 4, POLLIN);
  }

  /** Creates an id for datagrams, and returns its address, or a negated errno value. */
  long tryCreateId() {
    int refused = RdmaCm.CREATE_ID.status(channel, buffer, 0, RdmaCm.DATAGRAMS);
    return refused < 0 ? refused : Memory.getLong(buffer);
  }

  /** Creates an id for datagrams, and returns its address. */
  long createId() {
    RdmaCm.CREATE_ID.call(device, channel, buffer, 0, RdmaCm.DATAGRAMS);
    return Memory.getLong(buffer);
  }

  /**
   * Waits for the next event, and acknowledges it: an id can only be destroyed once its events are
   * acknowledged.
   *
   * @return null if none has arrived in time, or the other descriptor is readable
   */
  @Nullable RdmaCmEvent next(long waitNs) {
    Memory.setLong(buffer + TIMESPEC_AT, 0);
    Memory.setLong(buffer + TIMESPEC_AT + 8, waitNs);
    int ready =
        DatagramCalls.poll(LinuxCalls.errnoCapture(), buffer + POLLFDS_AT, 2, buffer + TIMESPEC_AT);
    if (ready <= 0
        || Memory.ALL.get(Memory.NATIVE_SHORT, buffer + POLLFDS_AT + 6) == 0
        || RdmaCm.GET_CM_EVENT.status(channel, buffer) < 0) {
      return null;
    }
    long at = Memory.getLong(buffer);
    RdmaCmEvent event = RdmaCmEvent.of(at);
    RdmaCm.ACK_CM_EVENT.status(at);
    return event;
  }

  /** Closes the channel. Its ids must be destroyed. */
  @Override
  public void close() {
    RdmaCm.DESTROY_EVENT_CHANNEL.status(channel);
  }
}
