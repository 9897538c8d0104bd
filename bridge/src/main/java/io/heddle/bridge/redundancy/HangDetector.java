package io.heddle.bridge.redundancy;

import java.util.function.LongSupplier;

/**
 * Detector of a data thread that hangs without failing. It counts its own checks instead of
 * measuring time: on a busy or stopped machine the checking thread runs no more often than the data
 * thread. Used by one thread only.
 */
public final class HangDetector {
  private final LongSupplier beats;
  private final int checks;
  private final long apartNs;
  private long seen;
  private int missed;
  private long lastNs;

  /**
   * @param beats number that the data thread changes in each round
   * @param checks consecutive checks without progress after which the thread counts as hung
   * @param apartNs minimum interval between checks, at least the maximum sleep of the data thread;
   *     a call within the interval checks nothing
   */
  public HangDetector(LongSupplier beats, int checks, long apartNs) {
    this.beats = beats;
    this.checks = checks;
    this.apartNs = apartNs;
    seen = beats.getAsLong();
    lastNs = System.nanoTime() - apartNs;
  }

  /** Checks for progress, at most once per interval, and returns whether the data thread hangs. */
  public boolean isHung(long nowNs) {
    if (nowNs - lastNs < apartNs) {
      return false;
    }
    lastNs = nowNs;
    long now = beats.getAsLong();
    missed = now == seen ? missed + 1 : 0;
    seen = now;
    return missed >= checks;
  }
}
