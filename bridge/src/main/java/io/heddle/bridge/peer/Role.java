package io.heddle.bridge.peer;

import java.util.Locale;

/** What a bridge does with a group's packets. */
public enum Role {
  /** It forwards them. */
  OWNER,

  /** Another bridge forwards them. */
  STANDBY,

  /** No bridge does, as far as this one knows: it waits for its turn, or for another to begin. */
  NO_OWNER;

  /** As it is written in a table. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
