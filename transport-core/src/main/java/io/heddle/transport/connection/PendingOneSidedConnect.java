package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.transport.data.OneSidedInitiator;
import org.jspecify.annotations.Nullable;

/** Pending connect to a peer's {@link SignalListener}. Any thread. */
public final class PendingOneSidedConnect {
  private final Handshake<OneSidedInitiator> handshake;

  PendingOneSidedConnect(Handshake<OneSidedInitiator> handshake) {
    this.handshake = handshake;
  }

  /**
   * Returns the connection, once it is established.
   *
   * @return null while it is pending
   * @throws HeddleException when the connection can't be made
   */
  public @Nullable OneSidedInitiator poll() {
    Handshake.Outcome<OneSidedInitiator> outcome = handshake.outcome();
    return outcome == null ? null : Connector.requireComm(outcome);
  }

  /** Abandons the connect; an established connection is closed. */
  public void abandon() {
    handshake.abandon();
  }
}
