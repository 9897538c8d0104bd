package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.device.PeerFailure;
import org.jspecify.annotations.Nullable;

/**
 * Outcome of a handshake: a communicator, or the reason for the failure.
 *
 * @param isPeersFailure whether the peer is gone, silent or unreachable
 */
record HandshakeOutcome<C extends Communicator>(
    @Nullable C comm, String failure, boolean isPeersFailure) {
  private static final HandshakeOutcome<?> LOCAL_ERROR =
      new HandshakeOutcome<>(
          null,
          "the control thread failed while it made the connection; the error is logged before this"
              + " line",
          false);

  /** Returns the outcome after an exception on the control thread. It needs no memory. */
  @SuppressWarnings("unchecked") /* It has no communicator. */
  static <C extends Communicator> HandshakeOutcome<C> localError() {
    return (HandshakeOutcome<C>) LOCAL_ERROR;
  }

  /**
   * Returns the communicator.
   *
   * @throws PeerFailure where the peer is gone, silent or unreachable
   * @throws HeddleException where the handshake failed for another reason
   */
  C require() {
    if (comm == null) {
      throw isPeersFailure ? new PeerFailure(failure) : new HeddleException(failure);
    }
    return comm;
  }
}
