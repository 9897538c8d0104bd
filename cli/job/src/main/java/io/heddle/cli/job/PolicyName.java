package io.heddle.cli.job;

import java.util.Locale;

/** The spray policies, with the names that HEDDLE_POLICY has. */
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
