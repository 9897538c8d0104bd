package io.heddle.bridge.peer;

import java.util.Locale;

/** State of a bridge among its peers. The order of the constants is the wire encoding. */
public enum BridgeState {
  /** The bridge listens for other bridges, and owns nothing. */
  STARTING,

  /** The bridge can own groups, but owns none. */
  STANDBY,

  /** The bridge owns groups. */
  ACTIVE,

  /** The bridge gives up all its groups, and takes no more. */
  DRAINING;

  /** Returns the name of the state as status tables print it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
