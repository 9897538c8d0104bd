package io.heddle.sim.chunks;

import java.util.Arrays;

/** Set of durations with exact quantiles. */
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
   * Returns a quantile; 0 if there are no durations.
   *
   * @param part quantile to return, 0 to 1
   */
  long quantileNs(double part) {
    if (!isSorted) {
      Arrays.sort(ns, 0, count);
      isSorted = true;
    }
    return count == 0 ? 0 : ns[(int) Math.min(count - 1L, (long) (part * count))];
  }
}
