package io.heddle.bridge.peer;

import java.util.Locale;

/** How far a bridge takes part. The order is that on the wire. */
public enum BridgeState {
  /** It listens who else is there, and owns nothing. */
  STARTING,

  /** It could own groups, and owns none. */
  STANDBY,

  /** It owns groups. */
  ACTIVE,

  /** It gives up everything, and takes nothing more. */
  DRAINING;

  /** As it is written in a table. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
