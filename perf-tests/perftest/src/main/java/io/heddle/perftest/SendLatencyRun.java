package io.heddle.perftest;

import io.heddle.verbs.SendWorkRequest;

/** Ping-pong of send_lat. The client begins, and each end answers a receive with a send. */
final class SendLatencyRun extends LatencyRun {
  private final int receiveDepth;
  private long receivesPosted;

  SendLatencyRun(
      TestQueues queues,
      int index,
      Settings settings,
      boolean begins,
      long sizeBytes,
      RunGuard guard) {
    super(queues, index, settings, begins, sizeBytes, guard);
    receiveDepth = settings.traffic().receiveDepth();
    request.operation = SendWorkRequest.Operation.SEND;
  }

  /** Posts the first receives. The peer may send only after this. */
  void postFirstReceives() {
    for (int i = 0; i < receiveDepth; i++) {
      postNextReceive();
    }
    throwIfFailed(received);
  }

  private void postNextReceive() {
    if (byTime || receivesPosted < target) {
      postReceive();
    }
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
   * Runs until the test is over.
   *
   * @throws io.heddle.platform.HeddleException if the queue pair fails or the peer disconnects
   */
  void run() {
    if (begins) {
      window.start(System.nanoTime());
    }
    play();
    throwIfFailed(received);
  }

  @Override
  boolean awaitMessage() {
    if (!await(queues.receiveQueue(), true, byTime)) {
      return false;
    }
    received++;
    if (byTime) {
      window.start(System.nanoTime());
    }
    if (receivesPosted == received) {
      postNextReceive();
    }
    return !failure.hasOccurred();
  }

  @Override
  void prepare() {}

  /**
   * Posts the receive that replaces a used one, then waits for the send's completion. The post thus
   * happens while the message is in flight, not between a message and its answer.
   */
  @Override
  boolean awaitCompletion() {
    if (receivesPosted - received < receiveDepth) {
      postNextReceive();
    }
    return !failure.hasOccurred() && await(queues.sendQueue(), false, false);
  }
}
