package io.heddle.roce.transport.window;

/**
 * Round-trip estimate and retransmission timeout of a requester (RFC 6298). The timeout doubles
 * with each expiry without an answer, and stays doubled until the next measurement. Otherwise a
 * round trip longer than the timeout would never be measured, and everything would be retransmitted
 * for ever. Used under the progress lock.
 */
public final class RoundTrip {
  /**
   * Minimum timeout. A receiver that shares its core with others can wait about this long before it
   * runs.
   */
  public static final long MINIMUM_TIMEOUT_NS = 2_000_000;

  /** Timeout before the first measurement. */
  static final long FIRST_TIMEOUT_NS = 10_000_000;

  /** Maximum timeout: longer than a full window takes at 5 Mbit/s. */
  static final long MAXIMUM_TIMEOUT_NS = 4_000_000_000L;

  private static final int MOST_DOUBLINGS = 12;

  private long smoothedNs;
  private long variationNs;
  private int doublings;

  public void reset() {
    smoothedNs = 0;
    variationNs = 0;
    doublings = 0;
  }

  /** Adds a sample: the time from a transmission to the answer to this same transmission. */
  public void sample(long nanoseconds) {
    doublings = 0;
    if (smoothedNs == 0) {
      smoothedNs = nanoseconds;
      variationNs = nanoseconds / 2;
    } else {
      variationNs += (Math.abs(nanoseconds - smoothedNs) - variationNs) / 4;
      smoothedNs += (nanoseconds - smoothedNs) / 8;
    }
  }

  /** Returns the estimated round trip; 0 before the first measurement. */
  public long smoothedNs() {
    return smoothedNs;
  }

  /** Returns the time without an answer after which a probe is sent. */
  public long timeoutNs() {
    long base =
        smoothedNs == 0
            ? FIRST_TIMEOUT_NS
            : Math.max(MINIMUM_TIMEOUT_NS, smoothedNs + 4 * variationNs);
    return Math.min(base << doublings, MAXIMUM_TIMEOUT_NS);
  }

  /** Doubles the timeout, because it expired without an answer. */
  public void timedOut() {
    doublings = Math.min(doublings + 1, MOST_DOUBLINGS);
  }
}
