package io.heddle.transport.control;

import io.heddle.platform.NanoClock;

/**
 * Clock that pauses while its thread is delayed or stopped. During that time the thread couldn't
 * read input, so silence of others doesn't count, and its own timers aren't late. The thread
 * alternates between sleep and work. One thread.
 */
final class PausingClock implements NanoClock {
  /** Lateness, and length of one stretch of work, that still counts as running. */
  static final long SLACK_NS = 20_000_000;

  private final NanoClock clock;
  private long excludedNs;
  private boolean asleep;
  private long wakesByNs;
  private long wokeAtNs;

  PausingClock(NanoClock clock) {
    this.clock = clock;
    wokeAtNs = clock.nanoTime();
  }

  /**
   * Notes that the thread goes to sleep.
   *
   * @param mostNs longest sleep
   */
  void beforeSleep(long mostNs) {
    afterWork();
    asleep = true;
    wakesByNs = clock.nanoTime() + mostNs;
  }

  /**
   * Notes that the thread woke; has no effect if that is already noted.
   *
   * @return whether it woke late, so that input may be unread
   */
  boolean afterWake() {
    if (!asleep) {
      return false;
    }
    asleep = false;
    wokeAtNs = clock.nanoTime();
    return excludeDelay(wokeAtNs - wakesByNs);
  }

  /**
   * Notes that the thread has worked since it woke, before it checks peers' silence.
   *
   * @return whether the work took so long that input may be unread
   */
  boolean afterWork() {
    long nowNs = clock.nanoTime();
    boolean away = excludeDelay(nowNs - wokeAtNs);
    if (away) {
      wokeAtNs = nowNs;
    }
    return away;
  }

  private boolean excludeDelay(long lateNs) {
    if (lateNs <= SLACK_NS) {
      return false;
    }
    excludedNs += lateNs - SLACK_NS;
    return true;
  }

  @Override
  public long nanoTime() {
    return clock.nanoTime() - excludedNs;
  }
}
