package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.PacketCrc;
import io.heddle.bridge.fabric.PacketPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Data side of a libibverbs port: set of the datagram queue pairs of a port. Only the first one is
 * attached to multicast groups. All are polled in turn, and one file descriptor shows whether any
 * has packets. Used by the data thread once the set is open.
 */
final class VerbsQueueSet implements PacketPort {
  private static final int RECEIVES = 1024;
  /* Number of receives posted to each queue pair except the first one, which receives groups. */
  private static final int FURTHER_RECEIVES = 256;
  private static final int EPOLL_ADD = 1;
  private static final int EPOLLIN = 1;
  private static final int EVENT_BYTES = 12;
  private static final int NO_EPOLL = -1;

  private final ProtectionDomain domain;
  private final VerbsQueues[] all;
  private final PacketCrc[] crcs;
  private final int[] numbers;
  private final int epoll;
  /* Index of the queue pair that received the current batch. */
  private int current;
  /* Written by the control thread, as is the next field. */
  private volatile int mtuBytes;
  private volatile @Nullable String death;

  private VerbsQueueSet(ProtectionDomain domain, List<VerbsQueues> queues) {
    this.domain = domain;
    all = queues.toArray(VerbsQueues[]::new);
    crcs = new PacketCrc[all.length];
    numbers = new int[all.length];
    for (int i = 0; i < all.length; i++) {
      crcs[i] = new PacketCrc(all[i].receiveArea(), all[i].receiveBytes());
      numbers[i] = all[i].number();
    }
    epoll = all.length == 1 ? NO_EPOLL : epollOf(all);
    mtuBytes = all[0].mtuBytes();
  }

  /**
   * @param count number of queue pairs, at least one
   * @param partitionIndex index of their partition in the port's table of partition keys
   * @param hosts resolves the source LIDs of packets to ports; null on Ethernet
   * @param counters address of the fabric's counters in the status file
   * @throws RuntimeException if the device refuses; the context is closed then
   */
  static VerbsQueueSet open(
      DeviceContext context,
      int count,
      int partitionIndex,
      @Nullable SubnetHosts hosts,
      long counters) {
    List<VerbsQueues> queues = new ArrayList<>();
    try {
      ProtectionDomain domain = context.allocateProtectionDomain();
      for (int i = 0; i < count; i++) {
        int receives = i == 0 ? RECEIVES : FURTHER_RECEIVES;
        queues.add(VerbsQueues.open(context, domain, receives, partitionIndex, hosts, counters));
      }
      return new VerbsQueueSet(domain, queues);
    } catch (RuntimeException refused) {
      context.close();
      queues.forEach(VerbsQueues::free);
      throw refused;
    }
  }

  private static int epollOf(VerbsQueues[] all) {
    int epoll = LinuxCalls.epollCreate();
    if (epoll < 0) {
      throw new SystemCallException("epoll_create1 for queue pairs", -epoll);
    }
    try (Arena arena = Arena.ofConfined()) {
      long event = Memory.allocate(arena, EVENT_BYTES, 8);
      Memory.setInt(event, EPOLLIN);
      for (VerbsQueues each : all) {
        int refused = LinuxCalls.epollControl(epoll, EPOLL_ADD, each.descriptor(), event);
        if (refused < 0) {
          LinuxCalls.close(epoll);
          throw new SystemCallException("epoll_ctl for a completion channel", -refused);
        }
      }
    }
    return epoll;
  }

  /** Returns the queue pair that is attached to multicast groups. */
  VerbsQueues first() {
    return all[0];
  }

  List<VerbsQueues> all() {
    return List.of(all);
  }

  /** Creates an address handle, which is valid for all queue pairs of the set. */
  AddressHandle handle(AddressHandleAttributes attributes) {
    return domain.createAddressHandle(attributes);
  }

  int[] numbers() {
    return numbers.clone();
  }

  /** Sets the MTU of packets sent from now on. */
  void setMtu(int bytes) {
    mtuBytes = bytes;
  }

  /** Makes all later polls fail, since the device has failed or its completions are lost. */
  void fail(String reason) {
    death = reason;
  }

  /** Returns the reason of {@link #fail}; null if there was no failure. */
  @Nullable String death() {
    return death;
  }

  @Override
  public boolean keepsHeaders() {
    return false;
  }

  /*
   * Returns the limit of packets with immediate data. A packet without them has a shorter header,
   * so its payload may be too large although the packet is within the limit. Such a packet is
   * dropped on sending.
   */
  @Override
  public int mostBytes(boolean ipv4) {
    return DatagramFormat.headerBytes(DatagramFormat.SEND_ONLY_WITH_IMMEDIATE)
        + mtuBytes
        + PacketFormat.ICRC_BYTES;
  }

  @Override
  public int descriptor() {
    return epoll == NO_EPOLL ? all[0].descriptor() : epoll;
  }

  @Override
  public boolean maySleep() {
    boolean may = true;
    for (int i = 0; i < all.length && may; i++) {
      may = all[i].maySleep();
    }
    return may;
  }

  @Override
  public int poll() {
    String reason = death;
    if (reason != null) {
      throw new HeddleException(reason);
    }
    int count = 0;
    for (int i = 0; i < all.length && count == 0; i++) {
      current = current + 1 == all.length ? 0 : current + 1;
      count = all[current].poll();
    }
    return count;
  }

  @Override
  public TrainBatch batch() {
    return all[current].batch();
  }

  @Override
  public int checksum(long packet, int covered) {
    return crcs[current].of(packet, covered);
  }

  /* The device drops damaged packets. */
  @Override
  public boolean isIntact(int train, long packet, int covered, int crc) {
    return true;
  }

  @Override
  public void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs) {
    VerbsSendPath own = (VerbsSendPath) sendPath;
    int by = own.toHost() ? indexOf(DatagramFormat.sourceQueuePair(packet)) : 0;
    all[by].send(own, packet, lengthBytes, counters, arrivedNs);
  }

  private int indexOf(int number) {
    int index = all.length - 1;
    while (index > 0 && numbers[index] != number) {
      index--;
    }
    return index;
  }

  @Override
  public void flush() {
    for (VerbsQueues each : all) {
      each.flush();
    }
  }

  @Override
  public void discard() {
    for (VerbsQueues each : all) {
      each.discard();
    }
  }

  /** Frees the buffers. The device's context must be closed. */
  void free() {
    if (epoll != NO_EPOLL) {
      LinuxCalls.close(epoll);
    }
    for (VerbsQueues each : all) {
      each.free();
    }
  }
}
