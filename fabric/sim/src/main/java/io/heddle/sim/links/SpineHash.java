package io.heddle.sim.links;

/** A seeded hash from a connection and a plane to a spine. */
public final class SpineHash {
  private static final int PLANE_BITS = 8;

  private SpineHash() {}

  /**
   * @param spines of the plane, above 0
   */
  public static int spine(long seed, int connection, int plane, int spines) {
    long hash = SplitMix.of(seed, (long) connection << PLANE_BITS | plane);
    return (int) Long.remainderUnsigned(hash, spines);
  }
}
