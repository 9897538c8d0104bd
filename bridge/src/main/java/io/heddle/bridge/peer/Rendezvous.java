package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;

/**
 * Highest random weight (rendezvous) hashing: each bridge scores each group, and the bridge with
 * the highest score owns it. So only the groups of a departing bridge move. Shares are proportional
 * to weights (Schindelhauer and Schomaker 2005, logarithmic method).
 */
final class Rendezvous {
  private static final long MIX_1 = 0xbf58_476d_1ce4_e5b9L;
  private static final long MIX_2 = 0x94d0_49bb_1331_11ebL;
  private static final double UNIT = 0x1p-53;

  private Rendezvous() {}

  /**
   * Returns a bridge's score for a group, above 0. {@link StrictMath} makes it equal on every
   * machine.
   *
   * @param weight weight of the bridge, above 0
   */
  static double score(int id, int weight, Gid group) {
    long hash = mix(mix(mix(group.high()) ^ group.low()) + id);
    double uniform = ((hash >>> 11) + 0.5) * UNIT;
    return -weight / StrictMath.log(uniform);
  }

  /* Mixes the bits of a value, by the finalizer of SplitMix64. */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 30) * MIX_1;
    mixed = (mixed ^ mixed >>> 27) * MIX_2;
    return mixed ^ mixed >>> 31;
  }
}
