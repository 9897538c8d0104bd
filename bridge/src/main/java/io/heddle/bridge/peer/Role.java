package io.heddle.bridge.peer;

import java.util.Locale;

/** Role of a bridge for a group. */
public enum Role {
  /** The bridge forwards the group's packets. */
  OWNER,

  /** Backup: another bridge forwards the group's packets. */
  STANDBY,

  /** No bridge is known to forward the group's packets: ownership is in transition. */
  NO_OWNER;

  /** Returns the name of the role in tables. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
