package io.heddle.sim.chunks;

import java.util.Locale;

/** Method by which a leaf selects the spine. */
public enum Switching {
  /** One spine for all of a connection's chunks in a plane, selected by a seeded hash. */
  HASH,
  /** A random spine for each chunk. */
  SPRAY;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
