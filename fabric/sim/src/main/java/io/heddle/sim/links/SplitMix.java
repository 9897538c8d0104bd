package io.heddle.sim.links;

/** Source of pseudo-random numbers that are the same in every run: the finaliser of SplitMix64. */
public final class SplitMix {
  private SplitMix() {}

  /** Returns the pseudo-random number of a value. */
  public static long of(long value) {
    long z = value * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Returns the pseudo-random number of two values. */
  public static long of(long first, long second) {
    return of(of(first) + second);
  }
}
