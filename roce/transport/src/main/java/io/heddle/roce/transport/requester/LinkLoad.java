package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.window.Lateness;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.transport.window.SendWindow;
import io.heddle.roce.transport.window.TrainPath;
import io.heddle.roce.transport.window.WideWay;

/**
 * One link of a queue pair as its requester sees it: how much may be under way on it, how long that
 * takes, and whether it answers. Under the progress lock.
 *
 * <p>A link that is silent while others answer rests: nothing is sent by it but now and then a
 * question, and when one of these is answered it is used again.
 */
final class LinkLoad {
  private static final long SHORTEST_REST_NS = 20_000_000;
  private static final long LONGEST_REST_NS = 1_000_000_000;

  final SendWindow window = new SendWindow();
  final WideWay wide = new WideWay();
  final RoundTrip roundTrip = new RoundTrip();
  final TrainPath trains = new TrainPath();
  final Lateness lateness = new Lateness();

  /* What it was given, by bytes ÷ weight; of use beside the other links' only. */
  long virtualTime;
  int weight = 1;

  long sentBytes;
  long acknowledgedBytes;
  long resentPackets;
  private long silences;

  private long recoveryEnd;
  private long newsAtNs;
  private boolean absent;
  private boolean resting;
  private long restNs;
  private long trialAtNs;

  /* The host has said that it carries nothing, and no answer to what was sent since says otherwise. */
  private boolean gone;
  private long goneAtNs;

  /**
   * Starts anew, with a window between these; {@code isAbsent} where one end hasn't its address.
   */
  void start(int most, int least, long next, boolean isAbsent, boolean wideIsAgreed, long nowNs) {
    window.reset(most, least, nowNs);
    wide.start(wideIsAgreed && !isAbsent, nowNs);
    trains.start(nowNs);
    roundTrip.reset();
    lateness.reset(nowNs);
    virtualTime = 0;
    recoveryEnd = next;
    newsAtNs = nowNs;
    absent = isAbsent;
    resting = false;
    restNs = 0;
    gone = false;
  }

  /** Whether it may be given something. */
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

  /** Something that went over it has been answered. */
  void news(long nowNs) {
    newsAtNs = nowNs;
    resting = false;
    restNs = 0;
    gone = false;
  }

  /** The host knows that it carries nothing now. */
  void gone(long nowNs) {
    gone = true;
    goneAtNs = nowNs;
  }

  boolean isGone() {
    return gone;
  }

  /** Whether an answer to what was sent then shows that it carries. */
  boolean isNews(long sentAtNs) {
    return !gone || sentAtNs - goneAtNs >= 0;
  }

  /** Without news for as long as an answer may take. */
  boolean isOverdue(long nowNs) {
    return nowNs - newsAtNs > roundTrip.timeoutNs();
  }

  /** Something on it was lost: its window shrinks once a round trip. */
  void lost(long unacknowledged, long next) {
    if (unacknowledged >= recoveryEnd) {
      recoverUntil(next);
      window.lost();
    }
  }

  /** What counted as lost on it has come: its window need not have shrunk. */
  void cameAfterAll(long tooEarlyNs, long nowNs) {
    lateness.came(tooEarlyNs, roundTrip, nowNs);
    window.lostNothing();
  }

  void recoverUntil(long next) {
    recoveryEnd = next;
  }

  /**
   * What it had under way is lost, and nothing has been heard of it since.
   *
   * @param othersAnswer whether it may rest
   */
  void silent(boolean othersAnswer, long nowNs) {
    window.silent();
    roundTrip.timedOut();
    newsAtNs = nowNs;
    if (othersAnswer && !resting) {
      resting = true;
      silences++;
      postponeTrial(nowNs);
    }
  }

  boolean isTrialDue(long nowNs) {
    return resting && nowNs - trialAtNs >= 0;
  }

  /** A trial was sent, or a rest begins: the next one comes after twice as long. */
  void postponeTrial(long nowNs) {
    restNs = Math.clamp(2 * restNs, SHORTEST_REST_NS, LONGEST_REST_NS);
    trialAtNs = nowNs + restNs;
  }
}
