package io.heddle.bridge;

import java.util.function.LongSupplier;

/**
 * Notices a data thread that neither moves nor fails. It counts the watcher's own looks, and not
 * the time: where the machine is busy or the process stood still, the watcher came no more often
 * than the watched. One watcher's.
 */
final class DataWatch {
  private final LongSupplier beats;
  private final int looks;
  private final long apartNs;
  private long seen;
  private int vain;
  private long lastNs;

  /**
   * @param beats a number that the data thread changes with each of its rounds
   * @param looks in vain, after which it hangs
   * @param apartNs between two looks that count; longer than the data thread sleeps
   */
  DataWatch(LongSupplier beats, int looks, long apartNs) {
    this.beats = beats;
    this.looks = looks;
    this.apartNs = apartNs;
    seen = beats.getAsLong();
    lastNs = System.nanoTime() - apartNs;
  }

  /** Looks, at most as often as it counts. Whether the thread hangs. */
  boolean hangs(long nowNs) {
    if (nowNs - lastNs < apartNs) {
      return false;
    }
    lastNs = nowNs;
    long now = beats.getAsLong();
    vain = now == seen ? vain + 1 : 0;
    seen = now;
    return vain >= looks;
  }
}
