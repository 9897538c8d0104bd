package io.heddle.transport.control;

import io.heddle.platform.NanoClock;

/**
 * Clock that pauses while its thread is delayed or stopped. During that time the thread couldn't
 * read input, so the silence of peers doesn't count, and the thread's own timers aren't late. Used
 * by one thread, which alternates between sleep and work.
 */
final class PausingClock implements NanoClock {
  /**
   * Tolerated lateness of a wake-up, and tolerated length of the work between two sleeps; the clock
   * pauses for the rest of a longer delay.
   */
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
   * Records that the thread goes to sleep.
   *
   * @param mostNs longest sleep
   */
  void beforeSleep(long mostNs) {
    afterWork();
    asleep = true;
    wakesByNs = clock.nanoTime() + mostNs;
  }

  /**
   * Records that the thread woke; further calls have no effect until the next sleep.
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
   * Records the duration of the work since the thread woke. Called before the thread checks peers
   * for silence.
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
