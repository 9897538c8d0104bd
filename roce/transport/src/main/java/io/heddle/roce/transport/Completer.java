package io.heddle.roce.transport;

import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

/**
 * The end of a queue pair's work requests that don't succeed: of the one that failed, and of the
 * flushed ones behind it. Under the progress lock.
 */
public final class Completer {
  private final QueuePairEvents events;
  private final SendQueue sends;
  private final ReceiveQueue receives;

  public Completer(QueuePairEvents events, SendQueue sends, ReceiveQueue receives) {
    this.events = events;
    this.sends = sends;
    this.receives = receives;
  }

  /** What the completion of such a request says. */
  public static Kind kind(Operation operation) {
    return switch (operation) {
      case SEND, SEND_WITH_IMMEDIATE -> Kind.SEND;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Kind.RDMA_WRITE;
      case RDMA_READ -> Kind.RDMA_READ;
    };
  }

  /** The oldest send completes with this status. Returns false where there is none. */
  public boolean failOldestSend(Status status) {
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
    events.completeSend(id, status, kind, 0);
  }

  /** Everything that is posted completes as flushed. */
  public void flush() {
    while (sends.completed() < sends.posted()) {
      takeSend(Status.WORK_REQUEST_FLUSHED);
    }
    sends.restart();
    while (!receives.isEmpty()) {
      long id = receives.id();
      receives.take();
      events.completeReceive(id, Status.WORK_REQUEST_FLUSHED, Kind.RECEIVE, 0, false, 0);
    }
  }
}
