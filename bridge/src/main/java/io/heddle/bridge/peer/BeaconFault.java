package io.heddle.bridge.peer;

import java.util.Locale;

/** Reason for the rejection of a beacon. */
public enum BeaconFault {
  /** It is no beacon, or is damaged. */
  MALFORMED,

  /** It has another version's format. */
  OTHER_VERSION,

  /** It has no signature, and this bridge has a key. */
  UNSIGNED,

  /** It has a signature, and this bridge has no key. */
  NO_KEY,

  /** Its signature was made with another key, or it was changed in transit. */
  WRONG_SIGNATURE,

  /** It was received before, or is older than the newest one. */
  REPLAYED,

  /** It was sent into one fabric and arrived from the other, so something joins them. */
  OTHER_FABRIC,

  /** It is this bridge's own beacon, which came back. */
  OWN,

  /** Another bridge has this bridge's number. */
  SAME_ID,

  /** The table of bridges is full. */
  TOO_MANY_BRIDGES;

  /** Returns the word for tables, such as {@code wrong-signature}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
