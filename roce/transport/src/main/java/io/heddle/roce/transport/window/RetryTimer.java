package io.heddle.roce.transport.window;

import io.heddle.roce.transport.Pause;
import io.heddle.verbs.ReadyToSendAttributes;

/**
 * When a requester asks for news, and when it gives up. Under the progress lock.
 *
 * <p>Two clocks, which have little to do with each other. The device's own, {@link RoundTrip},
 * follows what was measured: it asks after milliseconds, then after twice as long, and so on up to
 * seconds. The caller's, timeout code and retry count, says how long a path may be silent in all:
 * {@code 4.096 µs · 2^timeout · (retries + 1)}, counted from the last news (or the first packet).
 * Only that one ends the queue pair. It bounds the device's own: in the caller's time there is room
 * for {@code MOST_NEEDED + 1} questions whatever was measured, and the last look falls on its end,
 * not a doubled timeout behind it.
 *
 * <p>The caller's time is the path's, not this process's: while it waits for a processor, or is
 * stopped, the clock stands still. Otherwise of two processes that were away together, the one that
 * comes back first would give the other up within milliseconds.
 *
 * <p>Nor is it the peer's, where queue pairs by several ways lead to it. There the path's silence
 * lasts from the last news to the sending of the newest packet that has reached the peer, by
 * whichever way, and a question counts only where one that was sent after it has. While a peer
 * waits for its processor, packets of all ways wait in its sockets: it answers them all when it has
 * it. So a peer that is silent is asked on and on, and one that is slow isn't given up. One that is
 * heard, but by what it says has got nothing, is given up after {@code MOST_UNREACHED} such times.
 *
 * <p>News is that something more has arrived. An answer that says nothing more has arrived shows a
 * living peer, but not a usable path: one that swallows all large packets would be asked for ever.
 */
public final class RetryTimer {
  private static final int MOST_NEEDED = 2;
  private static final int MOST_UNREACHED = 4;

  /** Of the caller's time: where only word of another way is awaited, it is looked for so often. */
  private static final int LOOKS_FOR_WORD = 8;

  private final RoundTrip roundTrip;
  private long patienceNs;
  private int needed;
  private boolean alone;
  private int unanswered;
  private int witnessed;
  private boolean heard;
  private int passed;
  /* The oldest question that none sent after it is known to have passed. */
  private long unpassedNs = Pause.NEVER_NS;
  private long reachedAtNs;
  private long newsAtNs;
  private long askedAtNs;
  private long dueNs = Pause.NEVER_NS;

  public RetryTimer(RoundTrip roundTrip) {
    this.roundTrip = roundTrip;
  }

  public void reset(ReadyToSendAttributes attributes, long nowNs) {
    patienceNs =
        attributes.timeoutCode() == 0
            ? Pause.NEVER_NS
            : (4096L << attributes.timeoutCode()) * (attributes.retryCount() + 1);
    needed = Math.min(attributes.retryCount(), MOST_NEEDED);
    alone = attributes.peer() == ReadyToSendAttributes.ALONE;
    news(nowNs);
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

  /** Waits for one timeout from now. */
  public void arm(long nowNs) {
    askedAtNs = nowNs;
    if (unpassedNs == Pause.NEVER_NS) {
      unpassedNs = nowNs;
    }
    long waitNs =
        Math.min(
            roundTrip.timeoutNs(),
            Math.max(RoundTrip.MINIMUM_TIMEOUT_NS, patienceNs / (MOST_NEEDED + 2)));
    if (unanswered > needed) {
      long leftNs = patienceNs - (nowNs - newsAtNs);
      waitNs = Math.min(waitNs, leftNs > 0 ? leftNs : lookForWordNs());
    }
    dueNs = nowNs + waitNs;
  }

  private long lookForWordNs() {
    return heard
        ? Math.max(RoundTrip.MINIMUM_TIMEOUT_NS, patienceNs / LOOKS_FOR_WORD)
        : Pause.NEVER_NS;
  }

  /** Something more has arrived, or the first packet after rest goes out. */
  public void news(long nowNs) {
    newsAtNs = nowNs;
    unanswered = 0;
    witnessed = 0;
    passed = 0;
    unpassedNs = Pause.NEVER_NS;
    heard = false;
  }

  /**
   * Comes first where the timer is served. By as much as that is late, nobody here was there to
   * hear an answer or to ask again: that isn't the peer's silence.
   *
   * @param heardAtNs when something of the peer's came last, by whichever way
   * @param reachedAtNs when the newest packet was sent that the peer has got, by whichever way
   */
  public void served(long heardAtNs, long reachedAtNs, long nowNs) {
    newsAtNs += Math.max(0, nowNs - dueNs);
    this.reachedAtNs = reachedAtNs;
    heard = alone || heardAtNs - askedAtNs > 0;
    if (heard) {
      witnessed++;
    }
    if (unpassedNs != Pause.NEVER_NS && reachedAtNs - unpassedNs > 0) {
      passed++;
      unpassedNs = askedAtNs - reachedAtNs > 0 ? askedAtNs : Pause.NEVER_NS;
    }
  }

  public boolean isExhausted(long nowNs) {
    if (!isOverdue(nowNs)) {
      return false;
    }
    boolean reached = alone || passed > needed && reachedAtNs - newsAtNs >= patienceNs;
    boolean unreached = witnessed > needed && nowNs - newsAtNs >= MOST_UNREACHED * patienceNs;
    return reached || unreached;
  }

  /** Whether only the silence of all ways to the peer keeps this one from being given up. */
  public boolean isHeld(long nowNs) {
    return isOverdue(nowNs) && !heard;
  }

  private boolean isOverdue(long nowNs) {
    return unanswered > needed && nowNs - newsAtNs >= patienceNs;
  }

  public long newsAtNs() {
    return newsAtNs;
  }

  /** How many timeouts have passed since the last news. */
  public int unanswered() {
    return unanswered;
  }

  /** Returns how many timeouts have passed since the last news, this one included. */
  public int timedOut() {
    roundTrip.timedOut();
    return ++unanswered;
  }
}
