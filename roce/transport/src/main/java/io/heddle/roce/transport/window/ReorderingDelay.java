package io.heddle.roce.transport.window;

/**
 * Reordering window of a link, as in RACK (RFC 8985, section 6.2, step 4): the time for which an
 * overtaken packet doesn't count as lost yet. It is 0 on a link that keeps the order: three later
 * packets prove a loss at once. After a spurious loss, which shows that switches spray the link's
 * packets, the window grows until it suffices. Used under the progress lock.
 */
public final class ReorderingDelay {
  /*
   * The window is halved after this many real losses, if this time has passed without a spurious
   * loss. Both limits are large: a network that sprays packets seldom stops doing so, and a window
   * that is too small costs spurious retransmissions.
   */
  private static final int LOSSES_TO_HALVE = 16;
  private static final long TIME_TO_HALVE_NS = 10_000_000_000L;
  private static final long LEAST_NS = 1_000;

  private long windowNs;
  private long grownAtNs;
  private long lastSpuriousNs;
  private int losses;

  /** Resets to a link that keeps the order. */
  public void reset(long nowNs) {
    windowNs = 0;
    grownAtNs = nowNs;
    lastSpuriousNs = nowNs;
    losses = 0;
  }

  /**
   * Returns the time at which an overtaken packet counts as lost, if it was sent at {@code
   * sentAtNs}.
   */
  public long lostAtNs(long sentAtNs, RoundTrip roundTrip) {
    return windowNs == 0 ? sentAtNs : sentAtNs + roundTrip.smoothedNs() + windowNs;
  }

  /**
   * Records a spurious loss. The window grows at most once per round trip, since losses declared
   * during that round trip were declared with the old window.
   *
   * @param tooEarlyNs minimum time by which the loss was declared too early
   */
  public void onSpuriousLoss(long tooEarlyNs, RoundTrip roundTrip, long nowNs) {
    losses = 0;
    lastSpuriousNs = nowNs;
    long roundNs = Math.max(roundTrip.smoothedNs(), LEAST_NS);
    if (windowNs == 0 || nowNs - grownAtNs > roundNs) {
      grownAtNs = nowNs;
      long grown = windowNs + Math.max(Math.max(tooEarlyNs, windowNs), roundNs / 4);
      windowNs = Math.min(grown, roundTrip.timeoutNs());
    }
  }

  /** Records a real loss. */
  public void onRealLoss(long nowNs) {
    if (windowNs > 0 && ++losses >= LOSSES_TO_HALVE && nowNs - lastSpuriousNs > TIME_TO_HALVE_NS) {
      losses = 0;
      lastSpuriousNs = nowNs;
      windowNs = windowNs < 2 * LEAST_NS ? 0 : windowNs / 2;
    }
  }
}
