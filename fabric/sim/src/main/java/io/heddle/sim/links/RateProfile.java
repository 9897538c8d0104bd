package io.heddle.sim.links;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Share of a link's rate that is available, over time. It consists of pieces with a constant share,
 * each of which lasts until the next one begins. With share 0 the link is a black hole, which loses
 * everything.
 */
public final class RateProfile {
  private long[] fromNs = {0};
  private double[] share = {1};
  private int pieces = 1;
  private int lastFound;

  /*
   * Generator of random pieces, which are added when a later time is queried. A profile without
   * bursts doesn't use it.
   */
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
   * Returns a profile with the full rate, except for a span of time with this share.
   *
   * @param lengthNs length of the span, ns, above 0
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
   * Returns a profile with bursts of other traffic. Times with the full rate and times with the
   * share {@code left} alternate, and their lengths are random with exponential distributions.
   *
   * @param calmNs mean length of the times with the full rate, ns
   * @param burstNs mean length of the bursts, ns
   * @param left share of the rate that a burst leaves
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

  /*
   * Returns the number of the piece that contains a time. The search begins at the piece found
   * last, since queried times mostly grow.
   */
  private int piece(double atNs) {
    while (fromNs[pieces - 1] <= atNs && calmNs != Double.POSITIVE_INFINITY) {
      boolean isCalm = pieces % 2 == 1;
      double mean = isCalm ? calmNs : burstNs;
      double lengthNs = -Math.log(1 - random.nextDouble()) * mean;
      add(fromNs[pieces - 1] + Math.max(1, Math.round(lengthNs)), isCalm ? burstShare : 1);
    }
    int found = fromNs[lastFound] <= atNs ? lastFound : 0;
    while (found + 1 < pieces && fromNs[found + 1] <= atNs) {
      found++;
    }
    lastFound = found;
    return found;
  }

  /** Returns the share of the rate that is available at a time, 0 to 1. */
  public double shareAt(double atNs) {
    int in = piece(atNs);
    return share[in];
  }

  /**
   * Returns the end of a transmission, ns; infinity if the share becomes 0 before the end.
   *
   * @param startNs start of the transmission, ns
   * @param fullNs duration of the transmission at the full rate, ns
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
   * Returns the integral of the share from time 0 to this time, ns. At its full rate the link would
   * need this many nanoseconds for the bytes that it can carry until then.
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
