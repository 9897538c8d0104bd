package io.heddle.softdevice;

import io.heddle.roce.transport.Pause;

/**
 * When the engine looks at the timers of all its queue pairs. A look takes its time: where
 * thousands wait for a slow peer, one or another timer is always due, and a look in each round
 * would leave no time to hear the answers. So looks have an eighth of the time at most. Under the
 * progress lock.
 */
final class TimerScans {
  private static final int REST = 7;

  private long dueNs = Pause.NEVER_NS;
  private long restsUntilNs;

  TimerScans(long nowNs) {
    restsUntilNs = nowNs;
  }

  /** When there is something to do, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return dueNs;
  }

  /** There will be something to do then. */
  void at(long whenNs) {
    dueNs = Math.min(dueNs, whenNs);
  }

  /**
   * Whether a look begins now, after which {@link #end} says how it went. Where one would, but for
   * its rest, the next thing to do is when that is over.
   */
  boolean begin(long nowNs) {
    if (nowNs - dueNs < 0) {
      return false;
    }
    boolean rests = nowNs - restsUntilNs < 0;
    dueNs = rests ? restsUntilNs : Pause.NEVER_NS;
    return !rests;
  }

  /**
   * The look is over.
   *
   * @param nextNs the first timer that it left
   */
  void end(long begunNs, long endedNs, long nextNs) {
    at(nextNs);
    restsUntilNs = endedNs + (endedNs - begunNs) * REST;
  }
}
