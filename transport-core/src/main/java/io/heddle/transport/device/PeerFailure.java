package io.heddle.transport.device;

import io.heddle.platform.HeddleException;

/** Failure of a connection attempt because the peer is gone, silent or unreachable. */
public final class PeerFailure extends HeddleException {
  private static final long serialVersionUID = 1L;

  public PeerFailure(String message) {
    super(message);
  }
}
