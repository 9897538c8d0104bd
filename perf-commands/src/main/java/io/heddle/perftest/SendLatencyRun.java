package io.heddle.perftest;

import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;

/**
 * The ping-pong of send_lat: the client begins, each end answers a receive with a send. The calling
 * thread; no allocation in {@link #run}.
 */
final class SendLatencyRun {
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
  private final int receiveDepth;
  private final long sizeBytes;
  private final long[] posted;
  private long lastPostNs;
  private long sent;
  private long received;
  private long receivesPosted;
  private long sampled;

  /**
   * @param index queue pair to play over
   * @param begins whether this end has the first move
   */
  SendLatencyRun(
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
    receiveDepth = settings.traffic().receiveDepth();
    window = new SampleWindow(settings.traffic());
    posted = new long[byTime ? 0 : Math.toIntExact(target)];
    request.operation = SendWorkRequest.Operation.SEND;
    request.signalled = true;
    request.localAddress = queues.sendPiece(index);
    request.lkey = queues.lkey();
    request.lengthBytes = Math.toIntExact(sizeBytes);
  }

  /** Posts the first receives, before the peer may send. */
  void postFirstReceives() {
    for (int i = 0; i < receiveDepth && (byTime || receivesPosted < target); i++) {
      postReceive();
    }
    throwIfFailed();
  }

  private void postReceive() {
    int answer =
        queuePair.postReceive(0, queues.receivePiece(index), (int) sizeBytes, queues.lkey());
    if (answer == 0) {
      receivesPosted++;
    } else {
      failure.post(answer, index, true);
    }
  }

  /**
   * Plays until the test is over.
   *
   * @throws io.heddle.platform.HeddleException when the queue pair failed or the peer went away
   */
  void run() {
    if (begins) {
      window.start(System.nanoTime());
    }
    loop();
    throwIfFailed();
  }

  private void throwIfFailed() {
    failure.throwIfAny(
        queues,
        guard,
        byTime ? sent + " round trips" : received + " of " + target + " round trips");
  }

  private void loop() {
    while (byTime || sent < target || received < target) {
      if (!(begins && sent == 0) && (byTime || received < target) && !awaitMessage()) {
        return;
      }
      if ((byTime || sent < target) && !(send() && await(queues.sendQueue(), false, false))) {
        return;
      }
    }
  }

  private boolean awaitMessage() {
    if (!await(queues.receiveQueue(), true, byTime)) {
      return false;
    }
    received++;
    if (byTime) {
      window.start(System.nanoTime());
    }
    if (byTime || receivesPosted < target) {
      postReceive();
    }
    return !failure.happened();
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
    int taken = queuePair.postSend(request);
    if (taken != 1) {
      failure.post(taken, index, false);
    }
    return taken == 1;
  }

  private boolean await(CompletionQueue queue, boolean receive, boolean untilOver) {
    while (true) {
      int work = context.progress();
      int taken = queue.poll(one);
      if (taken == 1) {
        if (one[0].status != WorkCompletion.Status.SUCCESS) {
          failure.completion(one[0].status, index, receive);
        }
        return !failure.happened();
      }
      if (taken < 0) {
        failure.poll(taken);
        return false;
      }
      if (untilOver && window.isOver(System.nanoTime()) || !guard.mayGoOn(work)) {
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
