package io.heddle.bridge.peer;

import java.util.Locale;

/** Why a beacon isn't taken. */
public enum BeaconFault {
  /** It is none, or damaged. */
  MALFORMED,

  /** It has another version's format. */
  OTHER_VERSION,

  /** It has no signature, and this bridge has a key. */
  UNSIGNED,

  /** It has a signature, and this bridge has no key. */
  NO_KEY,

  /** Its signature is by another key, or it was changed on its way. */
  WRONG_SIGNATURE,

  /** It was heard before, or is older than what was. */
  REPLAYED,

  /** It was sent into one fabric and came from the other, so something joins them. */
  OTHER_FABRIC,

  /** It is this bridge's own, which came back. */
  OWN,

  /** Another bridge has this one's number. */
  SAME_ID,

  /** There are as many bridges as fit. */
  TOO_MANY_BRIDGES;

  /** As it is written in a table: {@code wrong-signature}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
