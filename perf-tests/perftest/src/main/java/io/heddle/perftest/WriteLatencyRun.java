package io.heddle.perftest;

import io.heddle.platform.Memory;
import io.heddle.verbs.SendWorkRequest;
import java.lang.foreign.ValueLayout;

/**
 * Ping-pong of write_lat: each end writes a message whose last byte is the message's number, and
 * polls memory for the other end's message. The server begins, as in perftest.
 */
final class WriteLatencyRun extends LatencyRun {
  private final long sendByte;
  private final long receiveByte;
  private long completed;

  WriteLatencyRun(
      TestQueues queues,
      int index,
      Settings settings,
      boolean begins,
      long sizeBytes,
      RunGuard guard) {
    super(queues, index, settings, begins, sizeBytes, guard);
    sendByte = queues.sendPiece(index) + sizeBytes - 1;
    receiveByte = queues.receivePiece(index) + sizeBytes - 1;
    request.operation = SendWorkRequest.Operation.RDMA_WRITE;
    request.remoteAddress = queues.remote(index).address();
    request.rkey = queues.remote(index).rkey();
  }

  /**
   * Runs until the test is over.
   *
   * @throws io.heddle.platform.HeddleException if the queue pair fails or the peer disconnects
   */
  void run() {
    window.start(System.nanoTime());
    play();
    throwIfFailed(completed);
  }

  @Override
  boolean awaitMessage() {
    byte number = (byte) ++received;
    while (Memory.getByteAcquire(receiveByte) != number) {
      int work = context.progress();
      if (byTime && window.isOver(System.nanoTime()) || !guard.mayContinue(work)) {
        return false;
      }
    }
    return true;
  }

  @Override
  void prepare() {
    Memory.ALL.set(ValueLayout.JAVA_BYTE, sendByte, (byte) sent);
  }

  @Override
  boolean awaitCompletion() {
    if (!await(queues.sendQueue(), false, false)) {
      return false;
    }
    completed++;
    return true;
  }
}
