package io.heddle.perftest;

import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;

/**
 * Ping-pong, in which each end answers a message with its own message. It uses only the calling
 * thread, and the subclasses' {@code run} allocates nothing.
 */
abstract sealed class LatencyRun permits SendLatencyRun, WriteLatencyRun {
  final TestQueues queues;
  final RunGuard guard;
  final DeviceContext context;
  final QueuePair queuePair;
  final SendWorkRequest request = new SendWorkRequest();
  final RunFailure failure = new RunFailure();
  final SampleWindow window;
  final boolean begins;
  final int index;
  final boolean byTime;
  final long target;
  final long sizeBytes;
  long sent;
  long received;
  private final WorkCompletion[] one = WorkCompletion.batch(1);
  private final Distribution halves = new Distribution();
  private final long[] posted;
  private long lastPostNs;
  private long sampled;

  /**
   * @param index index of the queue pair to use
   * @param begins whether this end sends first
   */
  LatencyRun(
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
    byTime = settings.traffic().isTimed();
    target = settings.traffic().iterations();
    window = new SampleWindow(settings.traffic());
    posted = new long[byTime ? 0 : Math.toIntExact(target)];
    request.signalled = true;
    request.inline = queues.isInline(sizeBytes);
    request.localAddress = queues.sendPiece(index);
    request.lkey = queues.lkey();
    request.lengthBytes = Math.toIntExact(sizeBytes);
  }

  /** Waits for the other end's next message. Returns whether it arrived. */
  abstract boolean awaitMessage();

  /** Prepares the content of the next message, whose number is {@link #sent}. */
  abstract void prepare();

  /** Waits until the last message is acknowledged. Returns false if the run has ended before. */
  abstract boolean awaitCompletion();

  final void play() {
    while (byTime || sent < target || received < target) {
      if (!(begins && sent == 0) && (byTime || received < target) && !awaitMessage()) {
        return;
      }
      if ((byTime || sent < target) && !(send() && awaitCompletion())) {
        return;
      }
    }
  }

  private boolean send() {
    long now = System.nanoTime();
    if (byTime) {
      if (window.isOver(now)) {
        return false;
      }
      if (sent > 0 && window.isSampling(now)) {
        halves.record((now - lastPostNs) / 2);
        sampled++;
      }
      lastPostNs = now;
    } else {
      posted[(int) sent] = now;
    }
    sent++;
    prepare();
    int taken = queuePair.postSend(request);
    if (taken != 1) {
      failure.post(taken, index, false);
    }
    return taken == 1;
  }

  /**
   * Waits for a completion. Returns whether it came and succeeded.
   *
   * @param untilOver whether the wait also ends when the measured time ends
   */
  final boolean await(CompletionQueue queue, boolean receive, boolean untilOver) {
    while (true) {
      int work = context.progress();
      int taken = queue.poll(one);
      if (taken == 1) {
        if (one[0].status != WorkCompletion.Status.SUCCESS) {
          failure.completion(one[0].status, index, receive);
        }
        return !failure.hasOccurred();
      }
      if (taken < 0) {
        failure.poll(taken);
        return false;
      }
      if (untilOver && window.isOver(System.nanoTime()) || !guard.mayContinue(work)) {
        return false;
      }
    }
  }

  /**
   * @param finished number of rounds that a test with a fixed number of rounds has finished
   * @throws io.heddle.platform.HeddleException if the queue pair failed or the peer disconnected
   */
  final void throwIfFailed(long finished) {
    failure.throwIfAny(
        queues,
        guard,
        byTime ? sent + " round trips" : finished + " of " + target + " round trips");
  }

  /** Returns the measurement, after the run. */
  final LatencyResult result() {
    return byTime
        ? LatencyResult.of(sizeBytes, sampled, window.measuredNs(), halves)
        : LatencyResult.of(sizeBytes, posted);
  }
}
