package io.heddle.roce.transport.window;

/**
 * How late a packet may come behind later ones of its link before it counts as lost, as RACK bounds
 * it (RFC 8985, section 6.2, step 4). A link that keeps the order has no bound: three later packets
 * are evidence enough, at once. Where a packet that counted as lost so has come after all, switches
 * spread the link's packets; from then on time is the evidence, and it grows until it is enough.
 * Under the progress lock.
 */
public final class ReorderingDelay {
  /* After so many losses that were some, and so long without a packet that came after all, half as much may be enough:
  whether switches spread packets is seldom changed, and to find out again costs some that are sent in vain. */
  private static final int LOSSES_TO_HALVE = 16;
  private static final long TIME_TO_HALVE_NS = 10_000_000_000L;
  private static final long LEAST_NS = 1_000;

  private long boundNs;
  private long grownAtNs;
  private long cameAtNs;
  private int losses;

  /** Starts anew on a link that keeps the order. */
  public void reset(long nowNs) {
    boundNs = 0;
    grownAtNs = nowNs;
    cameAtNs = nowNs;
    losses = 0;
  }

  /** When a packet that was sent then, and that later ones have overtaken, counts as lost. */
  public long lostAtNs(long sentAtNs, RoundTrip roundTrip) {
    return boundNs == 0 ? sentAtNs : sentAtNs + roundTrip.smoothedNs() + boundNs;
  }

  /**
   * A packet that counted as lost has come after all. Grows once a round trip, since whatever was
   * judged meanwhile was judged by the old bound.
   *
   * @param tooEarlyNs how much earlier than it came it was given up, at least
   */
  public void came(long tooEarlyNs, RoundTrip roundTrip, long nowNs) {
    losses = 0;
    cameAtNs = nowNs;
    long roundNs = Math.max(roundTrip.smoothedNs(), LEAST_NS);
    if (boundNs == 0 || nowNs - grownAtNs > roundNs) {
      grownAtNs = nowNs;
      long grown = boundNs + Math.max(Math.max(tooEarlyNs, boundNs), roundNs / 4);
      boundNs = Math.min(grown, roundTrip.timeoutNs());
    }
  }

  /** A packet that counted as lost was lost. */
  public void wasLost(long nowNs) {
    if (boundNs > 0 && ++losses >= LOSSES_TO_HALVE && nowNs - cameAtNs > TIME_TO_HALVE_NS) {
      losses = 0;
      cameAtNs = nowNs;
      boundNs = boundNs < 2 * LEAST_NS ? 0 : boundNs / 2;
    }
  }
}
