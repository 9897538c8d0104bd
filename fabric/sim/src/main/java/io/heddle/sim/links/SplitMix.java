package io.heddle.sim.links;

/**
 * Function from numbers to pseudo-random numbers, the same in every run: SplitMix64's finaliser.
 */
public final class SplitMix {
  private SplitMix() {}

  /** Returns a pseudo-random number that depends only on a value. */
  public static long of(long value) {
    long z = value * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Returns a pseudo-random number that depends only on two values. */
  public static long of(long first, long second) {
    return of(of(first) + second);
  }
}
