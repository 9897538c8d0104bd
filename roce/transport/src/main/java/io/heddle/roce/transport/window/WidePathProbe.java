package io.heddle.roce.transport.window;

/**
 * Prober of a link's path for wide packets: packets larger than RoCEv2 allows, on whose size both
 * ends have agreed. A switch with a smaller MTU drops them silently. So a probe of that size, which
 * writes nothing, is sent first. Until it is answered, WRITEs use the path MTU. Unanswered probes
 * are repeated after pauses that double, and at once when wide packets stop arriving, since routes
 * change. Used under the progress lock.
 */
public final class WidePathProbe {
  static final long FIRST_PAUSE_NS = 10_000_000;
  static final long LONGEST_PAUSE_NS = 4_000_000_000L;

  /**
   * Number of failed probes before a warning; the last of these probes is sent 0.3 s after the
   * first. A probe has failed when a later packet is answered but the probe isn't. A peer that is
   * waiting for its core answers neither.
   */
  public static final int FAILURES_BEFORE_WARNING = 6;

  /*
   * Number of consecutive trains with losses before a new probe. So many in a row are rarely
   * chance; if they are, the cost is one probe.
   */
  private static final int MOST_LOST = 4;

  private boolean agreed;
  private boolean isPassing;
  private int lost;
  private int failures;
  private boolean isProbeOutstanding;
  private long probedAtNs;
  private long pauseNs;
  private long nextProbeNs;
  private long answeredAtNs;

  public void start(boolean isAgreed, long nowNs) {
    agreed = isAgreed;
    isPassing = false;
    failures = 0;
    isProbeOutstanding = false;
    pauseNs = FIRST_PAUSE_NS;
    nextProbeNs = nowNs;
    answeredAtNs = nowNs;
  }

  /** Returns whether wide packets may be sent. */
  public boolean isPassing() {
    return isPassing;
  }

  public boolean isProbeDue(long nowNs) {
    return agreed && !isPassing && nowNs - nextProbeNs >= 0;
  }

  /**
   * Records a due probe.
   *
   * @param leaves whether the probe is really sent; false if a link on the path is known to have a
   *     smaller MTU
   */
  public void onProbe(boolean leaves, long nowNs) {
    nextProbeNs = nowNs + pauseNs;
    pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
    probedAtNs = nowNs;
    isProbeOutstanding = leaves;
  }

  /**
   * Records an answer to something sent at this time on the link.
   *
   * @return whether {@link #FAILURES_BEFORE_WARNING} probes in a row have now failed
   */
  public boolean onLaterAnswer(long sentAtNs) {
    if (!isProbeOutstanding || sentAtNs - probedAtNs <= 0) {
      return false;
    }
    isProbeOutstanding = false;
    return ++failures == FAILURES_BEFORE_WARNING;
  }

  public void answered(long nowNs) {
    isPassing = true;
    lost = 0;
    failures = 0;
    isProbeOutstanding = false;
    answeredAtNs = nowNs;
  }

  /** Records a wide train that arrived whole at the first transmission. */
  public void carried() {
    lost = 0;
  }

  /**
   * Records a loss in a wide train.
   *
   * @return whether the path is now in doubt
   */
  public boolean lost(long nowNs) {
    if (!isPassing || ++lost < MOST_LOST) {
      return false;
    }
    isPassing = false;
    if (nowNs - answeredAtNs > LONGEST_PAUSE_NS) {
      pauseNs = FIRST_PAUSE_NS;
      nextProbeNs = nowNs;
    } else {
      nextProbeNs = nowNs + pauseNs; /* the path lets probes pass, but loses trains */
    }
    return true;
  }
}
