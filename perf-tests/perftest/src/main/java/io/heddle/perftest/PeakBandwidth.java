package io.heddle.perftest;

/**
 * perftest's peak: the least time per message among all runs of consecutive messages. A run lasts
 * from the post of its first message to the completion of its last. perftest compares every pair of
 * messages; this class bisects, with one pass over the messages for each guess.
 */
final class PeakBandwidth {
  private static final int HALVINGS = 50;

  private PeakBandwidth() {}

  /**
   * @param postedNs time of each message's post, in order
   * @param completedNs times, in order: entry i is when i + 1 messages were complete
   * @param count number of messages
   * @return the least time per message in ns; 0 without messages
   */
  static double leastNsPerMessage(long[] postedNs, long[] completedNs, int count) {
    if (count == 0) {
      return 0;
    }
    long origin = postedNs[0];
    double low = 0;
    double high = (double) (completedNs[count - 1] - origin) / count;
    for (int i = 0; i < HALVINGS; i++) {
      double guess = (low + high) / 2;
      if (hasRunAsFast(postedNs, completedNs, count, origin, guess)) {
        high = guess;
      } else {
        low = guess;
      }
    }
    return high;
  }

  /*
   * A pair i ≤ j has (c[j] − p[i]) ÷ (j − i + 1) ≤ g if and only if c[j] − g·(j + 1) ≤ p[i] − g·i.
   * So one pass finds whether there is such a pair, by comparing each j with the largest p[i] − g·i
   * so far.
   */
  private static boolean hasRunAsFast(
      long[] postedNs, long[] completedNs, int count, long origin, double guess) {
    double best = Double.NEGATIVE_INFINITY;
    for (int j = 0; j < count; j++) {
      best = Math.max(best, postedNs[j] - origin - guess * j);
      if (completedNs[j] - origin - guess * (j + 1) <= best) {
        return true;
      }
    }
    return false;
  }
}
