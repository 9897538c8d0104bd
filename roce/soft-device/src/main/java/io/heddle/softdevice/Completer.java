package io.heddle.softdevice;

import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

/**
 * The end of a queue pair's work requests: their completions, that of the one that failed, and the
 * flushed ones behind it. Under the progress lock.
 */
final class Completer {
  private final Engine engine;
  private final int number;
  private final SendQueue sends;
  private final ReceiveQueue receives;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;

  /**
   * @param number of the queue pair
   */
  Completer(
      Engine engine,
      int number,
      SendQueue sends,
      ReceiveQueue receives,
      SoftCompletionQueue sendCompletions,
      SoftCompletionQueue receiveCompletions) {
    this.engine = engine;
    this.number = number;
    this.sends = sends;
    this.receives = receives;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
  }

  /** What the completion of such a request says. */
  static Kind kind(Operation operation) {
    return switch (operation) {
      case SEND, SEND_WITH_IMMEDIATE -> Kind.SEND;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Kind.RDMA_WRITE;
      case RDMA_READ -> Kind.RDMA_READ;
    };
  }

  boolean uses(SoftCompletionQueue cq) {
    return cq == sendCompletions || cq == receiveCompletions;
  }

  void detach() {
    sendCompletions.detach();
    receiveCompletions.detach();
  }

  void send(long id, Status status, Kind kind, int lengthBytes) {
    push(sendCompletions, id, status, kind, lengthBytes, false, 0);
  }

  void receive(
      long id, Status status, Kind kind, int lengthBytes, boolean hasImmediate, int immediate) {
    push(receiveCompletions, id, status, kind, lengthBytes, hasImmediate, immediate);
  }

  private void push(
      SoftCompletionQueue to,
      long id,
      Status status,
      Kind kind,
      int lengthBytes,
      boolean hasImmediate,
      int immediate) {
    boolean before = to.isOverrun();
    if (!to.push(id, status, kind, lengthBytes, hasImmediate, immediate) && !before) {
      engine.events.add(AsyncEventListener.Kind.COMPLETION_QUEUE_ERROR, number);
      engine.failUsersOf(to);
    }
  }

  /** The oldest send completes with this status. Returns false where there is none. */
  boolean failOldestSend(Status status) {
    if (sends.completed() == sends.posted()) {
      return false;
    }
    takeSend(status);
    return true;
  }

  /* Taken first: a completion that overruns its queue comes back here. */
  private void takeSend(Status status) {
    long index = sends.completed();
    long id = sends.id(index);
    Kind kind = kind(sends.operation(index));
    sends.complete();
    if (status == Status.WORK_REQUEST_FLUSHED) {
      sends.restart();
    }
    send(id, status, kind, 0);
  }

  /** Everything that is posted completes as flushed. */
  void flush() {
    while (sends.completed() < sends.posted()) {
      takeSend(Status.WORK_REQUEST_FLUSHED);
    }
    sends.restart();
    while (!receives.isEmpty()) {
      long id = receives.id();
      receives.take();
      receive(id, Status.WORK_REQUEST_FLUSHED, Kind.RECEIVE, 0, false, 0);
    }
  }
}
