package io.heddle.roce.transport.window;

/**
 * Round-trip estimate and retransmission timeout of a requester, as RFC 6298 has them: the timeout
 * doubles with each that passes in silence, and stays doubled until a packet has been measured that
 * was sent since. Without that last rule a path whose round trip is longer than the timeout is
 * never measured, and everything is sent again for ever. Under the progress lock.
 */
public final class RoundTrip {
  /**
   * A receiver that shares its core may be away for about this long without anything being lost.
   */
  public static final long MINIMUM_TIMEOUT_NS = 2_000_000;

  /** Before anything has been measured. */
  static final long FIRST_TIMEOUT_NS = 10_000_000;

  /** Longer than a full window takes over a link of 5 Mbit/s. */
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

  /** Measured on one sending of one packet: never from one sending to the answer to another. */
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

  /** The estimate; 0 before anything was measured. */
  public long smoothedNs() {
    return smoothedNs;
  }

  /** How long to wait for news before asking for it. */
  public long timeoutNs() {
    long base =
        smoothedNs == 0
            ? FIRST_TIMEOUT_NS
            : Math.max(MINIMUM_TIMEOUT_NS, smoothedNs + 4 * variationNs);
    return Math.min(base << doublings, MAXIMUM_TIMEOUT_NS);
  }

  /** Silence for a whole timeout. */
  public void timedOut() {
    doublings = Math.min(doublings + 1, MOST_DOUBLINGS);
  }
}
