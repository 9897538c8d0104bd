package io.heddle.sim.chunks;

import java.util.Locale;

/** A leaf's choice of the spine. */
public enum Switching {
  /** One spine for all of a connection in a plane, by a good hash. */
  HASH,
  /** A random spine for each chunk. */
  SPRAY;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
