package io.heddle.roce.transport.window;

import io.heddle.roce.transport.Pause;
import io.heddle.verbs.ReadyToSendAttributes;

/**
 * Retransmission timer of a requester, and its limit of retries. Used under the progress lock.
 *
 * <p>There are two timeouts. The device's timeout, {@link RoundTrip}, follows measurements: it
 * starts at milliseconds, each expiry causes a probe, and it doubles up to seconds. The caller's
 * timeout, from timeout code and retry count, limits the silence of a path: {@code 4.096 µs ·
 * 2^timeout · (retries + 1)} since the last progress (or the first packet). Only the caller's
 * timeout moves the queue pair to ERROR. It also bounds the device's timeout, so that {@code
 * MOST_NEEDED + 1} probes fit into the caller's time. The last check is at the end of the caller's
 * time, not a doubled timeout later.
 *
 * <p>The caller's time measures the path, not this process: its clock pauses while the process
 * waits for a processor or is stopped. Otherwise, of two processes suspended together, the first to
 * resume would end the connection to the other within milliseconds.
 *
 * <p>Nor does the caller's time measure the peer, if queue pairs reach the peer over several paths.
 * In that case a path's silence lasts from the last progress to the send time of the newest packet
 * that reached the peer on any path. A probe counts as unanswered only if a later packet reached
 * the peer. While a peer waits for its processor, packets of all paths wait in its sockets, and the
 * peer answers them later. So a silent peer is probed without limit, and the connection to a slow
 * peer isn't ended. If the peer sends packets but reports no arrivals, the connection ends after
 * {@code MOST_UNREACHED} times the caller's time.
 *
 * <p>Progress means that more packets have arrived. An answer without progress proves that the peer
 * is alive, not that the path is usable. If it counted as progress, a path that drops all large
 * packets would be probed for ever.
 */
public final class RetryTimer {
  private static final int MOST_NEEDED = 2;
  private static final int MOST_UNREACHED = 4;

  /**
   * Number of checks per length of the caller's time, once that time is over. The timer continues
   * these checks while packets from the peer arrive, since the failure of this path isn't proven
   * then.
   */
  private static final int CHECKS_WHILE_HELD = 8;

  private final RoundTrip roundTrip;
  private long limitNs;
  private int neededProbes;
  private boolean hasNoPeerGroup;
  private int unanswered;
  private int unansweredWhilePeerHeard;
  private boolean heard;
  private int overtakenProbes;
  /*
   * Send time of the oldest probe after which no packet is known to have reached the peer.
   */
  private long notOvertakenNs = Pause.NEVER_NS;
  private long reachedAtNs;
  private long progressAtNs;
  private long armedAtNs;
  private long dueNs = Pause.NEVER_NS;

  public RetryTimer(RoundTrip roundTrip) {
    this.roundTrip = roundTrip;
  }

  public void reset(ReadyToSendAttributes attributes, long nowNs) {
    limitNs =
        attributes.timeoutCode() == 0
            ? Pause.NEVER_NS
            : (4096L << attributes.timeoutCode()) * (attributes.retryCount() + 1);
    neededProbes = Math.min(attributes.retryCount(), MOST_NEEDED);
    hasNoPeerGroup = attributes.peer() == ReadyToSendAttributes.NO_PEER_GROUP;
    onProgress(nowNs);
    stop();
  }

  public void stop() {
    dueNs = Pause.NEVER_NS;
  }

  public boolean isRunning() {
    return dueNs != Pause.NEVER_NS;
  }

  public long dueNs() {
    return dueNs;
  }

  public boolean isDue(long nowNs) {
    return isRunning() && nowNs - dueNs >= 0;
  }

  /** Starts the timer, which expires one timeout from now. */
  public void arm(long nowNs) {
    armedAtNs = nowNs;
    if (notOvertakenNs == Pause.NEVER_NS) {
      notOvertakenNs = nowNs;
    }
    long waitNs =
        Math.min(
            roundTrip.timeoutNs(),
            Math.max(RoundTrip.MINIMUM_TIMEOUT_NS, limitNs / (MOST_NEEDED + 2)));
    if (unanswered > neededProbes) {
      long leftNs = limitNs - (nowNs - progressAtNs);
      waitNs = Math.min(waitNs, leftNs > 0 ? leftNs : checkWhileHeldNs());
    }
    dueNs = nowNs + waitNs;
  }

  private long checkWhileHeldNs() {
    return heard
        ? Math.max(RoundTrip.MINIMUM_TIMEOUT_NS, limitNs / CHECKS_WHILE_HELD)
        : Pause.NEVER_NS;
  }

  /** Records progress, or the first packet after an idle time. */
  public void onProgress(long nowNs) {
    progressAtNs = nowNs;
    unanswered = 0;
    unansweredWhilePeerHeard = 0;
    overtakenProbes = 0;
    notOvertakenNs = Pause.NEVER_NS;
    heard = false;
  }

  /**
   * Records an expiry of the timer; called before the timer's other methods. The delay between the
   * due time and {@code nowNs} doesn't count as the peer's silence, since this process couldn't
   * receive or probe in that time.
   *
   * @param heardAtNs time of the last packet from the peer on any path
   * @param reachedAtNs send time of the newest packet that reached the peer on any path
   */
  public void onExpiry(long heardAtNs, long reachedAtNs, long nowNs) {
    progressAtNs += Math.max(0, nowNs - dueNs);
    this.reachedAtNs = reachedAtNs;
    heard = hasNoPeerGroup || heardAtNs - armedAtNs > 0;
    if (heard) {
      unansweredWhilePeerHeard++;
    }
    if (notOvertakenNs != Pause.NEVER_NS && reachedAtNs - notOvertakenNs > 0) {
      overtakenProbes++;
      notOvertakenNs = armedAtNs - reachedAtNs > 0 ? armedAtNs : Pause.NEVER_NS;
    }
  }

  public boolean isExhausted(long nowNs) {
    if (!isOverdue(nowNs)) {
      return false;
    }
    boolean reached =
        hasNoPeerGroup || overtakenProbes > neededProbes && reachedAtNs - progressAtNs >= limitNs;
    boolean unreached =
        unansweredWhilePeerHeard > neededProbes && nowNs - progressAtNs >= MOST_UNREACHED * limitNs;
    return reached || unreached;
  }

  /**
   * Returns whether the caller's time is over, but the connection isn't ended because the peer is
   * silent on all paths.
   */
  public boolean isLimitSuspended(long nowNs) {
    return isOverdue(nowNs) && !heard;
  }

  private boolean isOverdue(long nowNs) {
    return unanswered > neededProbes && nowNs - progressAtNs >= limitNs;
  }

  public long progressAtNs() {
    return progressAtNs;
  }

  /** Returns the number of timeouts since the last progress. */
  public int unanswered() {
    return unanswered;
  }

  /** Counts a timeout; returns the number of timeouts since the last progress. */
  public int timedOut() {
    roundTrip.timedOut();
    return ++unanswered;
  }
}
