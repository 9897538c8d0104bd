package io.heddle.sim.links;

/** Seeded hash that selects a spine for a connection in a plane. */
public final class SpineHash {
  private static final int PLANE_BITS = 8;

  private SpineHash() {}

  /**
   * Returns the number of the selected spine.
   *
   * @param spines number of spines of the plane, above 0
   */
  public static int spine(long seed, int connection, int plane, int spines) {
    long hash = SplitMix.of(seed, (long) connection << PLANE_BITS | plane);
    return (int) Long.remainderUnsigned(hash, spines);
  }
}
