package io.heddle.transport.device;

import io.heddle.platform.HeddleException;

/** A connection that can't be made since its peer is gone, silent or unreachable. */
public final class PeerFailure extends HeddleException {
  private static final long serialVersionUID = 1L;

  public PeerFailure(String message) {
    super(message);
  }
}
