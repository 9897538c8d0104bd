package io.heddle.bridge.peer;

import java.util.Locale;

/** Reason for the rejection of a beacon. */
public enum BeaconFault {
  /** Bytes that are no beacon, or a damaged one. */
  MALFORMED,

  /** Beacon in the format of another version. */
  OTHER_VERSION,

  /** Beacon without a signature, although this bridge has a key. */
  UNSIGNED,

  /** Beacon with a signature, although this bridge has no key. */
  NO_KEY,

  /** Beacon that was signed with another key, or changed in transit. */
  WRONG_SIGNATURE,

  /** Beacon that was received before, or is older than its sender's newest one from this fabric. */
  REPLAYED,

  /**
   * Beacon that was sent into one fabric and arrived from the other: something connects the
   * fabrics.
   */
  OTHER_FABRIC,

  /** This bridge's own beacon, which came back. */
  OWN,

  /** Beacon of another bridge that has this bridge's number. */
  SAME_ID,

  /** Beacon of a new bridge, while the table of bridges is full. */
  TOO_MANY_BRIDGES;

  /** Returns the name of the fault in tables, such as {@code wrong-signature}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
