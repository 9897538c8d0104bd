package io.heddle.transport.failover;

import io.heddle.transport.control.ControlMessage.PlaneMessage;

/** Channel by which failover sends messages to the peer. Control thread. */
public interface PeerChannel {
  /**
   * Sends a message, at once or when there is a control channel; returns false where the peer is
   * gone.
   */
  boolean send(PlaneMessage message);

  /**
   * Moves the control channel to another path if the channel uses a plane of this failed carrier.
   */
  void failCarrier(int carrier);
}
