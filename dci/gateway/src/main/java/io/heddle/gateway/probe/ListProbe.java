package io.heddle.gateway.probe;

import java.util.Arrays;

/** Window of one list's last probes that were answered or lost. Used by one thread at a time. */
final class ListProbe {
  /** Number of probes in the window: ten seconds at ten probes per second. */
  static final int WINDOW = 100;

  private static final int PENDING = 256;
  private static final long LOST = -1;

  private final long timeoutNs;
  private final long[] sentNs = new long[PENDING];
  private final boolean[] pending = new boolean[PENDING];
  private final long[] window = new long[WINDOW];
  private long outcomes;
  private int next;
  private int oldest;
  private int misses;

  /**
   * @param timeoutNs time after which a probe counts as lost
   */
  ListProbe(long timeoutNs) {
    this.timeoutNs = timeoutNs;
  }

  /** Records that a probe is sent now, and returns its sequence number. */
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
   * Records an answer. Late, duplicate and unexpected answers are ignored.
   *
   * @param reflectorNs time that the reflector held the probe
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

  /** Counts the probes as lost whose time for an answer has passed. */
  void giveUp(long nowNs) {
    while (oldest != next && nowNs - sentNs[oldest & PENDING - 1] >= timeoutNs) {
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

  /** Returns loss and round trip of the probes in the window. */
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
