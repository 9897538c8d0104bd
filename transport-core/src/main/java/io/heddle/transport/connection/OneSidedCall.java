package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.transport.data.PeerPuts;
import org.jspecify.annotations.Nullable;

/** Pending connect to a peer's {@link SignalListener}. Any thread. */
public final class OneSidedCall {
  private final Handshake<PeerPuts> handshake;

  OneSidedCall(Handshake<PeerPuts> handshake) {
    this.handshake = handshake;
  }

  /**
   * Returns the connection, once it is established.
   *
   * @return null while it is pending
   * @throws HeddleException when the connection can't be made
   */
  public @Nullable PeerPuts poll() {
    Handshake.Outcome<PeerPuts> outcome = handshake.outcome();
    return outcome == null ? null : Connector.comm(outcome);
  }

  /** Abandons the connect; an established connection is closed. */
  public void abandon() {
    handshake.abandon();
  }
}
