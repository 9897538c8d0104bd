package io.heddle.sim.links;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * A link's share of its rate over time: pieces that each last until the next begins. Share 0 is a
 * black hole, which loses everything.
 */
public final class RateProfile {
  private long[] fromNs = {0};
  private double[] share = {1};
  private int pieces = 1;
  private int looked;

  /* With a generator, random pieces are added as needed. */
  private final RandomGenerator random;
  private final double calmNs;
  private final double burstNs;
  private final double burstShare;

  private RateProfile(RandomGenerator random, double calmNs, double burstNs, double left) {
    this.random = random;
    this.calmNs = calmNs;
    this.burstNs = burstNs;
    this.burstShare = left;
  }

  /** Returns a profile of one constant share, above 0. */
  public static RateProfile constant(double share) {
    RateProfile made = new RateProfile(() -> 0, Double.POSITIVE_INFINITY, 0, 1);
    made.share[0] = share;
    return made;
  }

  /**
   * Returns a profile with full rate, except for this share during one span of time.
   *
   * @param lengthNs of the span, above 0
   */
  public static RateProfile fault(double share, long startNs, long lengthNs) {
    RateProfile made = constant(1);
    if (startNs == 0) {
      made.share[0] = share;
    } else {
      made.add(startNs, share);
    }
    made.add(startNs + lengthNs, 1);
    return made;
  }

  /**
   * Returns a profile with bursts of other traffic: full for an exponential time, then this share
   * for another.
   *
   * @param calmNs mean length of the full times; burstNs likewise of the others
   */
  public static RateProfile bursts(
      RandomGenerator random, double calmNs, double burstNs, double left) {
    return new RateProfile(random, calmNs, burstNs, left);
  }

  private void add(long atNs, double next) {
    if (pieces == fromNs.length) {
      fromNs = Arrays.copyOf(fromNs, 2 * pieces);
      share = Arrays.copyOf(share, 2 * pieces);
    }
    fromNs[pieces] = atNs;
    share[pieces++] = next;
  }

  /* Returns the piece that contains this time; queried times mostly grow. */
  private int piece(double atNs) {
    while (fromNs[pieces - 1] <= atNs && calmNs != Double.POSITIVE_INFINITY) {
      boolean isCalm = pieces % 2 == 1;
      double mean = isCalm ? calmNs : burstNs;
      double lengthNs = -Math.log(1 - random.nextDouble()) * mean;
      add(fromNs[pieces - 1] + Math.max(1, Math.round(lengthNs)), isCalm ? burstShare : 1);
    }
    int found = fromNs[looked] <= atNs ? looked : 0;
    while (found + 1 < pieces && fromNs[found + 1] <= atNs) {
      found++;
    }
    looked = found;
    return found;
  }

  /** Returns the share at a time, 0 to 1. */
  public double shareAt(double atNs) {
    int in = piece(atNs);
    return share[in];
  }

  /**
   * Returns the end of something that begins then and would take this long at the full rate;
   * infinity if a black hole opens before its end.
   */
  double endNs(double startNs, double fullNs) {
    double nowNs = startNs;
    double leftNs = fullNs;
    while (true) {
      int in = piece(nowNs);
      if (share[in] <= 0) {
        return Double.POSITIVE_INFINITY;
      }
      double possible = in + 1 < pieces ? (fromNs[in + 1] - nowNs) * share[in] : leftNs;
      if (leftNs <= possible || in + 1 == pieces) {
        return nowNs + leftNs / share[in];
      }
      leftNs -= possible;
      nowNs = fromNs[in + 1];
    }
  }

  /**
   * Returns the integral of the share from time 0 to this one. In that many nanoseconds at the full
   * rate a link could carry the same bytes.
   */
  public double integralNs(double untilNs) {
    piece(untilNs);
    double sum = 0;
    for (int i = 0; i < pieces && fromNs[i] < untilNs; i++) {
      double end = i + 1 < pieces ? Math.min(untilNs, fromNs[i + 1]) : untilNs;
      sum += (end - fromNs[i]) * share[i];
    }
    return sum;
  }
}
