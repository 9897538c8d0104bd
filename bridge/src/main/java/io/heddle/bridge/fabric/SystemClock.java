package io.heddle.bridge.fabric;

import java.time.Instant;

/**
 * Offset between the clock of the system's time stamps (CLOCK_REALTIME) and {@link
 * System#nanoTime}. The control thread measures it periodically, since only CLOCK_REALTIME is
 * adjusted.
 */
public final class SystemClock {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final int TRIES = 8;

  private volatile long aheadNs = measured();

  /** Measures the offset. Control path: it allocates. */
  public void adjust() {
    aheadNs = measured();
  }

  private static long measured() {
    long best = 0;
    long shortest = Long.MAX_VALUE;
    for (int i = 0; i < TRIES; i++) {
      long before = System.nanoTime();
      Instant now = Instant.now();
      long took = System.nanoTime() - before;
      if (took < shortest) {
        shortest = took;
        best = now.getEpochSecond() * SECOND_NS + now.getNano() - (before + took / 2);
      }
    }
    return best;
  }

  /** Converts a system time stamp to {@link System#nanoTime}. */
  public long nanoTime(long seconds, long nanoseconds) {
    return seconds * SECOND_NS + nanoseconds - aheadNs;
  }
}
