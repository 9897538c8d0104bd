package io.heddle.gateway.probe;

import java.util.Arrays;

/**
 * What became of one list's probes: a window of the last ones that were answered or are given up.
 * One thread.
 */
final class ListProbe {
  /** Ten seconds at ten a second. */
  static final int WINDOW = 100;

  private static final int PENDING = 256;
  private static final long LOST = -1;

  private final long patienceNs;
  private final long[] sentNs = new long[PENDING];
  private final boolean[] pending = new boolean[PENDING];
  private final long[] window = new long[WINDOW];
  private long outcomes;
  private int next;
  private int oldest;
  private int misses;

  /**
   * @param patienceNs after which a probe counts as lost
   */
  ListProbe(long patienceNs) {
    this.patienceNs = patienceNs;
  }

  /** The sequence number of a probe that leaves now. */
  int send(long nowNs) {
    giveUp(nowNs);
    if (next - oldest == PENDING) {
      lose();
    }
    sentNs[next & PENDING - 1] = nowNs;
    pending[next & PENDING - 1] = true;
    return next++;
  }

  /**
   * An answer; one that is late, double or for nothing counts for nothing.
   *
   * @param reflectorNs how long the reflector had it
   */
  void answered(int sequence, long nowNs, long reflectorNs) {
    giveUp(nowNs);
    int at = sequence & PENDING - 1;
    if (sequence - oldest < 0 || next - sequence <= 0 || !pending[at]) {
      return;
    }
    pending[at] = false;
    long roundTripNs = nowNs - sentNs[at] - Math.clamp(reflectorNs, 0, nowNs - sentNs[at]);
    note(roundTripNs);
    misses = 0;
    skipAnswered();
  }

  /** Counts as lost what has waited too long. */
  void giveUp(long nowNs) {
    while (oldest != next && nowNs - sentNs[oldest & PENDING - 1] >= patienceNs) {
      lose();
    }
  }

  private void lose() {
    if (pending[oldest & PENDING - 1]) {
      pending[oldest & PENDING - 1] = false;
      note(LOST);
      misses++;
    }
    oldest++;
    skipAnswered();
  }

  private void skipAnswered() {
    while (oldest != next && !pending[oldest & PENDING - 1]) {
      oldest++;
    }
  }

  private void note(long outcome) {
    window[(int) (outcomes++ % WINDOW)] = outcome;
  }

  /** Of the window. */
  ProbeResult result() {
    int count = (int) Math.min(outcomes, WINDOW);
    long[] answered =
        Arrays.stream(window, 0, count).filter(each -> each != LOST).sorted().toArray();
    return new ProbeResult(
        outcomes,
        count == 0 ? Double.NaN : 1 - (double) answered.length / count,
        answered.length == 0 ? Double.NaN : answered[answered.length / 2],
        misses);
  }
}
