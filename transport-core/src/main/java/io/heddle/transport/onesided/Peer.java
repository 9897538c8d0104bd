package io.heddle.transport.onesided;

import io.heddle.transport.connection.Handshake;
import io.heddle.transport.device.TransportResult;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Peer of a one-sided group with the connection to it, which is made at the first operation.
 * Guarded by the group's lock.
 */
final class Peer implements AutoCloseable {
  private final Handshake<OneSidedInitiator> call;
  /*
   * Operations that were submitted before the connection was made, or while another thread held the
   * baton.
   */
  private final ArrayDeque<OneSidedOperation> waiting = new ArrayDeque<>();
  private @Nullable OneSidedInitiator initiator;
  /* Number of flushes that aren't counted yet, since another thread held the baton. */
  private int pendingFlushes;

  Peer(Handshake<OneSidedInitiator> call) {
    this.call = call;
  }

  /** Returns the connection; null while it is being made. */
  @Nullable OneSidedInitiator initiator() {
    return initiator;
  }

  /** Submits an operation, or queues it. Returns a result code. */
  int submit(OneSidedOperation operation) {
    OneSidedInitiator open = initiator;
    int result =
        open != null && waiting.isEmpty() ? open.submit(operation) : OneSidedInitiator.BUSY;
    if (result == OneSidedInitiator.BUSY) {
      waiting.add(operation);
      return TransportResult.SUCCESS;
    }
    return result;
  }

  /** Counts a flush of data that gets have read. */
  void countFlush() {
    OneSidedInitiator open = initiator;
    if (open != null) {
      pendingFlushes++;
      countFlushes(open);
    }
  }

  private void countFlushes(OneSidedInitiator open) {
    while (pendingFlushes > 0 && open.countFlush()) {
      pendingFlushes--;
    }
  }

  /**
   * Drives the connection and the queued operations.
   *
   * @return a result code
   * @throws io.heddle.platform.HeddleException when the peer can't be connected
   */
  int progress() {
    OneSidedInitiator open = initiator;
    if (open == null) {
      open = call.poll();
      initiator = open;
    }
    if (open == null) {
      return TransportResult.SUCCESS;
    }
    countFlushes(open);
    int result = submitWaiting(open);
    return result == TransportResult.SUCCESS ? open.progress() : result;
  }

  private int submitWaiting(OneSidedInitiator open) {
    while (!waiting.isEmpty()) {
      int result = open.submit(waiting.element());
      if (result == OneSidedInitiator.BUSY) {
        return TransportResult.SUCCESS;
      }
      waiting.remove();
      if (result != TransportResult.SUCCESS) {
        return result;
      }
    }
    return TransportResult.SUCCESS;
  }

  @Override
  public void close() {
    OneSidedInitiator open = initiator;
    if (open == null) {
      call.abandon();
    } else {
      open.close();
    }
  }
}
