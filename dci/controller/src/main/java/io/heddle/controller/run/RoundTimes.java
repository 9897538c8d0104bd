package io.heddle.controller.run;

import java.util.Arrays;

/** Durations of the last rounds. Used by one thread. */
final class RoundTimes {
  private static final int KEPT = 256;
  private static final double NS_PER_MS = 1e6;

  private final long[] tookNs = new long[KEPT];
  private long rounds;

  void add(long durationNs) {
    tookNs[(int) (rounds++ % KEPT)] = durationNs;
  }

  /** Returns the number of rounds so far. */
  long rounds() {
    return rounds;
  }

  /**
   * Returns the 99th percentile of the durations of the last 256 rounds, in ms; 0 before the first
   * round.
   */
  double slowestMs() {
    int count = (int) Math.min(rounds, KEPT);
    if (count == 0) {
      return 0;
    }
    long[] sorted = Arrays.copyOf(tookNs, count);
    Arrays.sort(sorted);
    return sorted[(int) Math.ceil(count * 0.99) - 1] / NS_PER_MS;
  }
}
