package io.heddle.sim.links;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * The share of its rate that a link has, over time: pieces that each last until the next begins.
 * Share 0 is a black hole: what is sent then is lost.
 */
public final class RateProfile {
  private long[] fromNs = {0};
  private double[] share = {1};
  private int pieces = 1;
  private int looked;

  /* Goes on by chance where there is a generator. */
  private final RandomGenerator random;
  private final double calmNs;
  private final double burstNs;
  private final double left;

  private RateProfile(RandomGenerator random, double calmNs, double burstNs, double left) {
    this.random = random;
    this.calmNs = calmNs;
    this.burstNs = burstNs;
    this.left = left;
  }

  /** Always the same share, above 0. */
  public static RateProfile constant(double share) {
    RateProfile made = new RateProfile(() -> 0, Double.POSITIVE_INFINITY, 0, 1);
    made.share[0] = share;
    return made;
  }

  /**
   * Full, and this share during one span of time.
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
   * Bursts of others' traffic: full for an exponential time, then this share for another.
   *
   * @param calmNs mean length of the full times, and burstNs of the others
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

  /* The piece that this time lies in; times asked for mostly grow. */
  private int piece(double atNs) {
    while (fromNs[pieces - 1] <= atNs && calmNs != Double.POSITIVE_INFINITY) {
      boolean isCalm = pieces % 2 == 1;
      double mean = isCalm ? calmNs : burstNs;
      double lengthNs = -Math.log(1 - random.nextDouble()) * mean;
      add(fromNs[pieces - 1] + Math.max(1, Math.round(lengthNs)), isCalm ? left : 1);
    }
    int found = fromNs[looked] <= atNs ? looked : 0;
    while (found + 1 < pieces && fromNs[found + 1] <= atNs) {
      found++;
    }
    looked = found;
    return found;
  }

  /** The share at a time, 0 to 1. */
  public double shareAt(double atNs) {
    int in = piece(atNs);
    return share[in];
  }

  /**
   * When something is through that begins then and would take so long at the full rate; infinity
   * where a black hole opens before that.
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

  /** The time from 0 to then, each moment counted by its share. */
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
