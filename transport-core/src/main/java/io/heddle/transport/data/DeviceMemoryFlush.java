package io.heddle.transport.data;

import io.heddle.platform.Memory;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * Flush of received data to device memory. A completion says that the adapter's writes have left
 * for the bus. A read of the same memory by the same adapter can't overtake those writes on the
 * bus, so they have arrived once the read completes. The read goes over {@link LoopbackQueuePairs}.
 *
 * <p>Created by the service thread; otherwise used with the communicator's baton.
 */
final class DeviceMemoryFlush implements AutoCloseable {
  private static final int READ_BYTES = 1;

  private final RequestLines lines;
  private final Arena arena = Arena.ofShared();
  private final MemoryRegion target;
  private final LoopbackQueuePairs pairs;
  private final LoopbackQueuePairs.Listener completer = this::done;

  /**
   * @param lines request lines in which flushes are completed
   * @throws io.heddle.verbs.VerbsException when the device refuses; nothing stays open then
   */
  DeviceMemoryFlush(NetDevice device, RequestLines lines) {
    this.lines = lines;
    /*
     * The queue pairs take as many requests as a communicator has groups in flight, so there is
     * room to post a read for each request line.
     */
    pairs = new LoopbackQueuePairs(device, lines.count(), "the read that flushes device memory");
    try {
      target =
          device
              .pd()
              .registerMemory(
                  Memory.allocate(arena, Long.BYTES, Long.BYTES),
                  Long.BYTES,
                  EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE));
    } catch (RuntimeException refused) {
      pairs.close();
      arena.close();
      throw refused;
    }
  }

  /** Renews a plane's queue pair as {@link LoopbackQueuePairs#renew} does. */
  void renew(LocalPlane plane) {
    pairs.renew(plane);
  }

  /**
   * Posts a read of a buffer's first byte.
   *
   * @param line claimed line of the request, which completes with the read
   * @return as {@link LoopbackQueuePairs#post}
   */
  int post(int line, long address, int rkey) {
    SendWorkRequest request = pairs.request(line);
    request.operation = SendWorkRequest.Operation.RDMA_READ;
    request.localAddress = target.address();
    request.lengthBytes = READ_BYTES;
    request.lkey = target.lkey();
    request.remoteAddress = address;
    request.rkey = rkey;
    return pairs.post(line);
  }

  /**
   * Completes the requests whose reads are done.
   *
   * @return null, or the failure of a read
   */
  @Nullable String progress() {
    return pairs.progress(completer);
  }

  private void done(int line) {
    lines.complete(line, 0);
  }

  @Override
  public void close() {
    pairs.close();
    target.close();
    arena.close();
  }
}
