package io.heddle.transport.onesided;

import io.heddle.transport.connection.OneSidedCall;
import io.heddle.transport.data.OneSidedOperation;
import io.heddle.transport.data.PeerPuts;
import io.heddle.transport.device.TransportResult;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A rank as its group writes to it: called when the first operation comes. With the group's lock.
 */
final class Peer implements AutoCloseable {
  private final OneSidedCall call;
  private final ArrayDeque<OneSidedOperation> waiting = new ArrayDeque<>();
  private @Nullable PeerPuts puts;

  Peer(OneSidedCall call) {
    this.call = call;
  }

  /** The connection; null while it is being made. */
  @Nullable PeerPuts puts() {
    return puts;
  }

  /** Takes an operation. Returns a result code. */
  int submit(OneSidedOperation operation) {
    PeerPuts open = puts;
    if (open == null) {
      waiting.add(operation);
      return TransportResult.SUCCESS;
    }
    return open.submit(operation);
  }

  /**
   * Moves everything on.
   *
   * @return a result code
   * @throws io.heddle.platform.HeddleException when the peer can't be connected
   */
  int progress() {
    PeerPuts open = puts;
    if (open != null) {
      return open.progress();
    }
    open = call.poll();
    puts = open;
    int result = TransportResult.SUCCESS;
    while (open != null && result == TransportResult.SUCCESS && !waiting.isEmpty()) {
      result = open.submit(waiting.remove());
    }
    return result;
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
