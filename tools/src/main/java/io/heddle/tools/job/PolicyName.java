package io.heddle.tools.job;

import java.util.Locale;

/** Spray policy, named as in HEDDLE_POLICY. */
public enum PolicyName {
  SPRAY,
  PINNED,
  LEAST_IN_FLIGHT,
  SPRAYLINK,
  HASH,
  PACKET;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
