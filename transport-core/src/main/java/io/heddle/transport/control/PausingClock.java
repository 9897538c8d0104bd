package io.heddle.transport.control;

import io.heddle.platform.NanoClock;

/**
 * The time in which a thread that sleeps and works by turns was there to hear something. While it
 * is kept from its processor, or stopped, this time stands still: what others said meanwhile it
 * couldn't hear, and what it should have done by then isn't late. One thread.
 */
final class PausingClock implements NanoClock {
  /** A thread may be late by so much, and work for so long at a stretch, and be there. */
  static final long SLACK_NS = 20_000_000;

  private final NanoClock clock;
  private long awayNs;
  private boolean asleep;
  private long wakesByNs;
  private long wokeAtNs;

  PausingClock(NanoClock clock) {
    this.clock = clock;
    wokeAtNs = clock.nanoTime();
  }

  /** The thread goes to sleep, for so long at most. */
  void beforeSleep(long mostNs) {
    afterWork();
    asleep = true;
    wakesByNs = clock.nanoTime() + mostNs;
  }

  /**
   * The thread is awake; nothing where that is known.
   *
   * @return whether it was late, so that much may have come that it hasn't heard
   */
  boolean afterWake() {
    if (!asleep) {
      return false;
    }
    asleep = false;
    wokeAtNs = clock.nanoTime();
    return leftOut(wokeAtNs - wakesByNs);
  }

  /**
   * The thread has worked since it woke, and is about to judge what others have said meanwhile.
   *
   * @return whether that took so long that much may have come that it hasn't heard
   */
  boolean afterWork() {
    long nowNs = clock.nanoTime();
    boolean away = leftOut(nowNs - wokeAtNs);
    if (away) {
      wokeAtNs = nowNs;
    }
    return away;
  }

  private boolean leftOut(long lateNs) {
    if (lateNs <= SLACK_NS) {
      return false;
    }
    awayNs += lateNs - SLACK_NS;
    return true;
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime() - awayNs;
  }
}
