package io.heddle.transport.failover;

import io.heddle.transport.control.ControlMessage.PlaneMessage;

/** How failover reaches the other end of its connection. Control thread. */
public interface PeerChannel {
  /** Says something to the other end, now or when there is a channel; false where it is gone. */
  boolean say(PlaneMessage message);

  /** The control channel goes another way where it goes by this carrier's plane. */
  void leave(int carrier);
}
