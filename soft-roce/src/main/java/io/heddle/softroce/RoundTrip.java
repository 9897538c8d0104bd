package io.heddle.softroce;

/**
 * Round-trip estimate, retransmission timeout and congestion window of a requester (the estimate as
 * RFC 6298 has it, the window by slow start and halving). Under the progress lock.
 */
final class RoundTrip {
  /**
   * A receiver that shares its core may be away for about this long without anything being lost.
   */
  private static final long MINIMUM_TIMEOUT_NS = 2_000_000;

  private static final long FIRST_TIMEOUT_NS = 10_000_000;
  private static final long MAXIMUM_TIMEOUT_NS = 100_000_000;
  private static final int SMALLEST_WINDOW = 32;

  private int limit = SMALLEST_WINDOW;
  private long smoothedNs;
  private long variationNs;
  private int backoff;
  private int window;
  private int threshold;
  private int ackedSinceGrowth;

  /** Starts anew with at most {@code packets} in flight. */
  void reset(int packets) {
    limit = packets;
    smoothedNs = 0;
    variationNs = 0;
    backoff = 0;
    window = Math.min(packets, 4 * SMALLEST_WINDOW);
    threshold = packets;
    ackedSinceGrowth = 0;
  }

  /** Packets that may be in flight. */
  int window() {
    return window;
  }

  long smoothedNs() {
    return smoothedNs;
  }

  void sample(long nanoseconds) {
    if (smoothedNs == 0) {
      smoothedNs = nanoseconds;
      variationNs = nanoseconds / 2;
    } else {
      variationNs += (Math.abs(nanoseconds - smoothedNs) - variationNs) / 4;
      smoothedNs += (nanoseconds - smoothedNs) / 8;
    }
  }

  /** Time without news after which everything outstanding counts as lost. */
  long timeoutNs() {
    long base =
        smoothedNs == 0
            ? FIRST_TIMEOUT_NS
            : Math.max(MINIMUM_TIMEOUT_NS, smoothedNs + 4 * variationNs);
    return Math.min(base << backoff, MAXIMUM_TIMEOUT_NS);
  }

  void acknowledged(int packets) {
    backoff = 0;
    if (window >= limit) {
      return;
    }
    if (window < threshold) {
      window = Math.min(limit, window + packets);
    } else {
      /* One train more for each window that came through. */
      ackedSinceGrowth += packets;
      if (ackedSinceGrowth >= window) {
        ackedSinceGrowth = 0;
        window = Math.min(limit, window + SMALLEST_WINDOW / 2);
      }
    }
  }

  /** A loss, at most once a round trip. */
  void lost() {
    threshold = Math.min(limit, Math.max(SMALLEST_WINDOW, window - window / 4));
    window = threshold;
  }

  /** Silence for a whole timeout. */
  void timedOut() {
    threshold = Math.min(limit, Math.max(SMALLEST_WINDOW, window / 2));
    window = Math.min(limit, SMALLEST_WINDOW);
    if (backoff < 7) {
      backoff++;
    }
  }
}
