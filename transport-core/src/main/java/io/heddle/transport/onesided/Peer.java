package io.heddle.transport.onesided;

import io.heddle.transport.connection.OneSidedCall;
import io.heddle.transport.data.OneSidedOperation;
import io.heddle.transport.data.PeerPuts;
import io.heddle.transport.device.TransportResult;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** Rank as its group writes to it; connected at the first operation. With the group's lock. */
final class Peer implements AutoCloseable {
  private final OneSidedCall call;
  /* Operations that were submitted before the connection, or while another thread held the baton. */
  private final ArrayDeque<OneSidedOperation> waiting = new ArrayDeque<>();
  private @Nullable PeerPuts puts;
  /* Flushes that were requested while another thread held the baton. */
  private int detachCounters;

  Peer(OneSidedCall call) {
    this.call = call;
  }

  /** Returns the connection; null while it is being made. */
  @Nullable PeerPuts puts() {
    return puts;
  }

  /** Submits an operation, or queues it. Returns a result code. */
  int submit(OneSidedOperation operation) {
    PeerPuts open = puts;
    int result = open != null && waiting.isEmpty() ? open.submit(operation) : PeerPuts.BUSY;
    if (result == PeerPuts.BUSY) {
      waiting.add(operation);
      return TransportResult.SUCCESS;
    }
    return result;
  }

  /** Counts a flush of data that gets have read. */
  void flushed() {
    PeerPuts open = puts;
    if (open != null) {
      detachCounters++;
      countFlushes(open);
    }
  }

  private void countFlushes(PeerPuts open) {
    while (detachCounters > 0 && open.flushed()) {
      detachCounters--;
    }
  }

  /**
   * Drives the connection and the queued operations.
   *
   * @return a result code
   * @throws io.heddle.platform.HeddleException when the peer can't be connected
   */
  int progress() {
    PeerPuts open = puts;
    if (open == null) {
      open = call.poll();
      puts = open;
    }
    if (open == null) {
      return TransportResult.SUCCESS;
    }
    countFlushes(open);
    int result = handOver(open);
    return result == TransportResult.SUCCESS ? open.progress() : result;
  }

  private int handOver(PeerPuts open) {
    while (!waiting.isEmpty()) {
      int result = open.submit(waiting.element());
      if (result == PeerPuts.BUSY) {
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
    PeerPuts open = puts;
    if (open == null) {
      call.abandon();
    } else {
      open.close();
    }
  }
}
