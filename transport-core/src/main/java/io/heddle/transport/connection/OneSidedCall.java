package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.transport.data.PeerPuts;
import org.jspecify.annotations.Nullable;

/** A call of a peer's {@link SignalListener} that is under way. Any thread. */
public final class OneSidedCall {
  private final Handshake<PeerPuts> handshake;

  OneSidedCall(Handshake<PeerPuts> handshake) {
    this.handshake = handshake;
  }

  /**
   * @return null while it goes on
   * @throws HeddleException when the connection can't be made
   */
  public @Nullable PeerPuts poll() {
    Handshake.Outcome<PeerPuts> outcome = handshake.outcome();
    return outcome == null ? null : Connector.comm(outcome);
  }

  /** Nobody waits for it any more; what has come of it is closed. */
  public void abandon() {
    handshake.abandon();
  }
}
