package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.window.ReorderingDelay;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.transport.window.SendWindow;
import io.heddle.roce.transport.window.TrainPath;
import io.heddle.roce.transport.window.WidePathProbe;

/**
 * Requester's state of one link: window, round trip, and whether it answers. Used under the
 * progress lock.
 *
 * <p>If a link is silent while others answer, the link rests: only occasional probes use it, and
 * the first answer puts it back into use.
 */
final class LinkState {
  private static final long SHORTEST_REST_NS = 20_000_000;
  private static final long LONGEST_REST_NS = 1_000_000_000;

  final SendWindow window = new SendWindow();
  final WidePathProbe wide = new WidePathProbe();
  final RoundTrip roundTrip = new RoundTrip();
  final TrainPath trains = new TrainPath();
  final ReorderingDelay reorderingDelay = new ReorderingDelay();

  /* Bytes sent ÷ weight; meaningful only relative to other links. */
  long virtualTime;
  int weight = 1;

  long sentBytes;
  long acknowledgedBytes;
  long resentPackets;
  private long silences;

  private long recoveryEnd;
  private long lastAnswerNs;
  private boolean absent;
  private boolean resting;
  private long restNs;
  private long trialAtNs;

  /*
   * Set from the host's report that the link is down until a packet that was sent after the report
   * is answered.
   */
  private boolean isDown;
  private long downAtNs;

  /**
   * Resets the link, with a window between these bounds. {@code isAbsent} means that one of the two
   * ends has no address on the link.
   */
  void start(int most, int least, long next, boolean isAbsent, boolean wideIsAgreed, long nowNs) {
    window.reset(most, least, nowNs);
    wide.start(wideIsAgreed && !isAbsent, nowNs);
    trains.start(nowNs);
    roundTrip.reset();
    reorderingDelay.reset(nowNs);
    virtualTime = 0;
    recoveryEnd = next;
    lastAnswerNs = nowNs;
    absent = isAbsent;
    resting = false;
    restNs = 0;
    isDown = false;
  }

  /** Returns whether the link may carry traffic. */
  boolean isUsable() {
    return !absent && !resting;
  }

  boolean isAbsent() {
    return absent;
  }

  boolean isResting() {
    return resting;
  }

  long silences() {
    return silences;
  }

  /** Records an answer to something sent on this link. */
  void onAnswer(long nowNs) {
    lastAnswerNs = nowNs;
    resting = false;
    restNs = 0;
    isDown = false;
  }

  /** Records that the host reported the link down. */
  void onDown(long nowNs) {
    isDown = true;
    downAtNs = nowNs;
  }

  boolean isReportedDown() {
    return isDown;
  }

  /** Returns whether an answer to something sent at this time proves that the link works. */
  boolean provesLinkUp(long sentAtNs) {
    return !isDown || sentAtNs - downAtNs >= 0;
  }

  /** Returns whether no answer has arrived on this link for a whole timeout. */
  boolean isOverdue(long nowNs) {
    return nowNs - lastAnswerNs > roundTrip.timeoutNs();
  }

  /** Records a loss; shrinks the window once per round trip. */
  void lost(long unacknowledged, long next) {
    if (unacknowledged >= recoveryEnd) {
      recoverUntil(next);
      window.lost();
    }
  }

  /** Records a spurious loss, and undoes the window's reduction. */
  void spuriousLoss(long tooEarlyNs, long nowNs) {
    reorderingDelay.onSpuriousLoss(tooEarlyNs, roundTrip, nowNs);
    window.undoLoss();
  }

  void recoverUntil(long next) {
    recoveryEnd = next;
  }

  /**
   * Records that the link was silent for a whole timeout, so that its outstanding packets count as
   * lost.
   *
   * @param othersAnswer whether other links answer, so that this one may rest
   */
  void onSilence(boolean othersAnswer, long nowNs) {
    window.silent();
    roundTrip.timedOut();
    lastAnswerNs = nowNs;
    if (othersAnswer && !resting) {
      resting = true;
      silences++;
      postponeTrial(nowNs);
    }
  }

  boolean isTrialDue(long nowNs) {
    return resting && nowNs - trialAtNs >= 0;
  }

  /** Schedules the next probe after twice the last interval. */
  void postponeTrial(long nowNs) {
    restNs = Math.clamp(2 * restNs, SHORTEST_REST_NS, LONGEST_REST_NS);
    trialAtNs = nowNs + restNs;
  }
}
