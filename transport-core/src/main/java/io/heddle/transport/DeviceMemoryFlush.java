package io.heddle.transport;

import io.heddle.platform.Memory;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.qppool.PlaneQueuePair.LinkSettings;
import io.heddle.qppool.PlaneQueuePair.QueueDepths;
import io.heddle.qppool.PlaneQueuePair.RemoteEnd;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * Makes what was received visible to the owner of device memory. A completion says that the
 * adapter's writes have left for the bus; a read of the same memory by the same adapter can't
 * overtake them there, so once it has completed they have arrived. The read goes over a queue pair
 * that is connected with itself.
 *
 * <p>Made and closed by the service thread; the rest by the thread that drives the communicator.
 */
final class DeviceMemoryFlush implements AutoCloseable {
  /* As many as a communicator has groups under way, so that posting finds room whenever a line is free. */
  private static final int DEPTH = 256;
  private static final int POLL_BATCH = 16;
  private static final int READ_BYTES = 1;

  private final RequestLines lines;
  private final Arena arena = Arena.ofShared();
  private final CompletionQueue cq;
  private final MemoryRegion target;
  private final PlaneQueuePair pair;
  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private int underWay;

  /**
   * @param lines where its requests are told as done
   * @throws io.heddle.verbs.VerbsException when the device refuses; nothing stays open then
   */
  DeviceMemoryFlush(NetDevice device, RequestLines lines) {
    this.lines = lines;
    cq = device.context().createCompletionQueue(DEPTH + 1);
    @Nullable MemoryRegion region = null;
    @Nullable PlaneQueuePair made = null;
    try {
      region =
          device
              .pd()
              .registerMemory(
                  Memory.allocate(arena, Long.BYTES, Long.BYTES),
                  Long.BYTES,
                  EnumSet.of(io.heddle.verbs.ProtectionDomain.Access.LOCAL_WRITE));
      LocalPlane plane = device.planes().getFirst();
      made =
          PlaneQueuePair.create(
              plane.key(), plane.gid(), device.pd(), cq, new QueueDepths(DEPTH, 1));
      made.connect(
          new RemoteEnd(
              plane.gid(),
              made.queuePair().number(),
              made.startPsn(),
              made.queuePair().endpointParameters()),
          plane.mtu(),
          LinkSettings.DEFAULT,
          0);
    } catch (RuntimeException refused) {
      close(made, region);
      throw refused;
    }
    target = region;
    pair = made;
    request.operation = SendWorkRequest.Operation.RDMA_READ;
    request.signalled = true;
    request.localAddress = target.address();
    request.lengthBytes = READ_BYTES;
    request.lkey = target.lkey();
  }

  /**
   * Reads the first byte of a buffer.
   *
   * @param line of the request, claimed; it is completed when the read is
   * @return 0, or a negated errno; −1 for a full queue
   */
  int post(int line, long address, int rkey) {
    request.id = line;
    request.remoteAddress = address;
    request.rkey = rkey;
    int taken = pair.queuePair().postSend(request);
    if (taken == 1) {
      underWay++;
      return 0;
    }
    return taken < 0 ? taken : -1;
  }

  /**
   * Completes the requests whose reads are done.
   *
   * @return null, or how a read failed
   */
  @Nullable String progress() {
    while (underWay > 0) {
      int count = cq.poll(completions);
      for (int i = 0; i < count; i++) {
        WorkCompletion each = completions[i];
        if (each.status != WorkCompletion.Status.SUCCESS) {
          return "the read that flushes device memory failed with " + each.status + " over " + pair;
        }
        underWay--;
        lines.complete((int) each.workRequestId, 0);
      }
      if (count < 0) {
        return "the completion queue of the flush of device memory overran";
      }
      if (count < POLL_BATCH) {
        break;
      }
    }
    return null;
  }

  private void close(@Nullable PlaneQueuePair made, @Nullable MemoryRegion region) {
    if (made != null) {
      made.close();
    }
    if (region != null) {
      region.close();
    }
    cq.close();
    arena.close();
  }

  @Override
  public void close() {
    close(pair, target);
  }
}
