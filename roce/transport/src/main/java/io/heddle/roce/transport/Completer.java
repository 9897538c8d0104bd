package io.heddle.roce.transport;

import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

/**
 * Completer of a queue pair's work requests: it completes sends that the peer has acknowledged, a
 * request that failed, and the requests that are flushed after it. Used under the progress lock.
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

  /** Returns the completion kind of an operation. */
  public static Kind kind(Operation operation) {
    return switch (operation) {
      case SEND, SEND_WITH_IMMEDIATE -> Kind.SEND;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Kind.RDMA_WRITE;
      case RDMA_READ -> Kind.RDMA_READ;
    };
  }

  /**
   * Completes the started send requests whose packets are all below a sequence number.
   *
   * @param unacknowledged lowest sequence number that the peer hasn't acknowledged
   */
  public void completeSends(long unacknowledged) {
    for (long index = sends.completed();
        index < sends.started() && sends.lastPsn(index) < unacknowledged;
        index = sends.completed()) {
      boolean signalled = sends.isSignalled(index);
      long id = sends.id(index);
      Kind kind = kind(sends.operation(index));
      int lengthBytes = sends.lengthBytes(index);
      /*
       * The request is removed before its completion is delivered: a completion that overruns its
       * queue moves this queue pair to ERROR, which flushes all requests.
       */
      sends.complete();
      if (signalled) {
        events.completeSend(id, Status.SUCCESS, kind, lengthBytes);
      }
    }
  }

  /**
   * Completes the oldest outstanding send request with this status. Returns false if none is
   * outstanding.
   */
  public boolean failOldestSend(Status status) {
    if (sends.completed() == sends.posted()) {
      return false;
    }
    takeSend(status);
    return true;
  }

  /*
   * Removes the request before its completion is delivered: a completion that overruns its
   * completion queue re-enters this method.
   */
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

  /** Completes all posted requests as flushed. */
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
