package io.heddle.bridge.limit;

import io.heddle.bridge.multicast.RateLimit;

/**
 * Generic cell rate algorithm (ITU-T I.371, virtual scheduling): a packet conforms unless it
 * arrives earlier than its theoretical arrival time less the tolerance of a burst. Times may wrap;
 * they are compared by subtraction. Used by the data thread only.
 */
final class Gcra {
  /*
   * Fraction bits of a nanosecond. So an interval is accurate to a ten-thousandth, even at 100
   * million packets a second.
   */
  private static final int FRACTION_BITS = 10;
  /*
   * Maximum delay of a queued packet for which the next packets make up, so that the delay doesn't
   * reduce the rate: ten ticks of the timer wheel.
   */
  private static final long CATCH_UP_NS = 200_000;
  private static final long SECOND_NS = 1_000_000_000L;

  private long interval;
  private long tolerance;
  private long theoretical;

  /** Sets the limit. */
  void set(RateLimit limit, long nowNs) {
    interval = limit.isNone() ? 0 : (SECOND_NS << FRACTION_BITS) / limit.packetsPerSecond();
    tolerance = interval * (limit.burst() - 1);
    theoretical = nowNs << FRACTION_BITS;
  }

  boolean isUnlimited() {
    return interval == 0;
  }

  /** Returns the nanoseconds until the next packet conforms; 0 if it conforms now. */
  long waitNs(long nowNs) {
    if (interval == 0) {
      return 0;
    }
    long wait = theoretical - tolerance - (nowNs << FRACTION_BITS);
    return wait <= 0 ? 0 : (wait + (1L << FRACTION_BITS) - 1) >> FRACTION_BITS;
  }

  /**
   * Accounts for a packet that is sent.
   *
   * @param waited whether the packet was queued. The timer's granularity then delays it slightly,
   *     and the later packets must not lose that time
   */
  void take(long nowNs, boolean waited) {
    long least = nowNs - (waited ? CATCH_UP_NS : 0) << FRACTION_BITS;
    theoretical = (theoretical - least < 0 ? least : theoretical) + interval;
  }
}
