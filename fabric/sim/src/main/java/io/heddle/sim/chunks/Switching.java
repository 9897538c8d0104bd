package io.heddle.sim.chunks;

import java.util.Locale;

/** How a leaf chooses the spine. */
public enum Switching {
  /** One spine for all of a connection in a plane, by a good hash. */
  HASH,
  /** Another one for each chunk, by chance. */
  SPRAY;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
