package io.heddle.bridge.peer;

import java.util.Locale;

/** State of a bridge among its peers. The order of the constants is the wire encoding. */
public enum BridgeState {
  /** Listens for other bridges, and owns nothing. */
  STARTING,

  /** Can own groups, and owns none. */
  STANDBY,

  /** Owns groups. */
  ACTIVE,

  /** Gives up all its groups, and takes no more. */
  DRAINING;

  /** Returns the word for tables. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
