package io.heddle.perftest;

import io.heddle.platform.Memory;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;

/**
 * The ping-pong of write_lat: each end writes a message whose last byte is its number and waits for
 * the other's to appear in memory. The server begins, as perftest has it. The calling thread; no
 * allocation in {@link #run}.
 */
final class WriteLatencyRun {
  private final TestQueues queues;
  private final RunGuard guard;
  private final DeviceContext context;
  private final QueuePair queuePair;
  private final SendWorkRequest request = new SendWorkRequest();
  private final WorkCompletion[] one = WorkCompletion.batch(1);
  private final RunFailure failure = new RunFailure();
  private final SampleWindow window;
  private final Distribution halves = new Distribution();
  private final boolean begins;
  private final int index;
  private final boolean byTime;
  private final long target;
  private final long sizeBytes;
  private final long sendByte;
  private final long receiveByte;
  private final long[] posted;
  private long lastPostNs;
  private long sent;
  private long received;
  private long completed;
  private long sampled;

  /**
   * @param index queue pair to play over
   * @param begins whether this end has the first move
   */
  WriteLatencyRun(
      TestQueues queues,
      int index,
      Settings settings,
      boolean begins,
      long sizeBytes,
      RunGuard guard) {
    this.queues = queues;
    this.guard = guard;
    this.begins = begins;
    this.index = index;
    this.sizeBytes = sizeBytes;
    context = queues.context();
    queuePair = queues.queuePair(index);
    byTime = settings.traffic().byTime();
    target = settings.traffic().iterations();
    window = new SampleWindow(settings.traffic());
    posted = new long[byTime ? 0 : Math.toIntExact(target)];
    sendByte = queues.sendPiece(index) + sizeBytes - 1;
    receiveByte = queues.receivePiece(index) + sizeBytes - 1;
    request.operation = SendWorkRequest.Operation.RDMA_WRITE;
    request.signalled = true;
    request.localAddress = queues.sendPiece(index);
    request.lkey = queues.lkey();
    request.lengthBytes = Math.toIntExact(sizeBytes);
    request.remoteAddress = queues.remote(index).address();
    request.rkey = queues.remote(index).rkey();
  }

  /**
   * Plays until the test is over.
   *
   * @throws io.heddle.platform.HeddleException when the queue pair failed or the peer went away
   */
  void run() {
    window.start(System.nanoTime());
    loop();
    failure.throwIfAny(
        queues,
        guard,
        byTime ? sent + " round trips" : completed + " of " + target + " round trips");
  }

  private void loop() {
    while (byTime || sent < target || received < target || completed < target) {
      if (!(begins && sent == 0) && (byTime || received < target) && !awaitMessage()) {
        return;
      }
      if ((byTime || sent < target) && !(send() && awaitCompletion())) {
        return;
      }
    }
  }

  private boolean awaitMessage() {
    byte number = (byte) ++received;
    while (Memory.getByteAcquire(receiveByte) != number) {
      int work = context.progress();
      if (byTime && window.isOver(System.nanoTime()) || !guard.mayGoOn(work)) {
        return false;
      }
    }
    return true;
  }

  private boolean send() {
    long now = System.nanoTime();
    if (byTime) {
      if (window.isOver(now)) {
        return false;
      }
      if (sent > 0 && window.samples(now)) {
        halves.record((now - lastPostNs) / 2);
        sampled++;
      }
      lastPostNs = now;
    } else {
      posted[(int) sent] = now;
    }
    sent++;
    Memory.ALL.set(ValueLayout.JAVA_BYTE, sendByte, (byte) sent);
    int taken = queuePair.postSend(request);
    if (taken != 1) {
      failure.post(taken, index, false);
    }
    return taken == 1;
  }

  private boolean awaitCompletion() {
    while (true) {
      int work = context.progress();
      int taken = queues.sendQueue().poll(one);
      if (taken == 1) {
        completed++;
        if (one[0].status != WorkCompletion.Status.SUCCESS) {
          failure.completion(one[0].status, index, false);
        }
        return !failure.happened();
      }
      if (taken < 0) {
        failure.poll(taken);
        return false;
      }
      if (!guard.mayGoOn(work)) {
        return false;
      }
    }
  }

  /** What was measured; after {@link #run}. */
  LatencyResult result() {
    return byTime
        ? LatencyResult.of(sizeBytes, sampled, window.measuredNs(), halves)
        : LatencyResult.of(sizeBytes, posted);
  }
}
