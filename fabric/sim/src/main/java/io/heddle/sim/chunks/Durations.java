package io.heddle.sim.chunks;

import java.util.Arrays;

/** Durations, each kept: quantiles of them are exact. */
final class Durations {
  private long[] ns = new long[1024];
  private int count;
  private boolean isSorted = true;

  void add(long durationNs) {
    if (count == ns.length) {
      ns = Arrays.copyOf(ns, 2 * count);
    }
    ns[count++] = durationNs;
    isSorted = false;
  }

  int count() {
    return count;
  }

  /**
   * What that part of all doesn't exceed; 0 where there is none.
   *
   * @param part 0 to 1
   */
  long quantileNs(double part) {
    if (!isSorted) {
      Arrays.sort(ns, 0, count);
      isSorted = true;
    }
    return count == 0 ? 0 : ns[(int) Math.min(count - 1L, (long) (part * count))];
  }
}
