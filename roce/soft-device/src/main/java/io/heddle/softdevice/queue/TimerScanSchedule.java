package io.heddle.softdevice.queue;

import io.heddle.roce.transport.Pause;

/**
 * Schedule of the engine's scans over the timers of all queue pairs. A scan is expensive. With
 * thousands of queue pairs that wait for a slow peer, some timer is always due, and a scan in each
 * round would leave no time to receive answers. So scans take at most an eighth of the time. Used
 * under the progress lock.
 */
final class TimerScanSchedule {
  private static final int PAUSE_FACTOR = 7;

  private long dueNs = Pause.NEVER_NS;
  private long pausedUntilNs;

  TimerScanSchedule(long nowNs) {
    pausedUntilNs = nowNs;
  }

  /** Returns when the next scan is due, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return dueNs;
  }

  /** Requests a scan no later than this time. */
  void requestAt(long whenNs) {
    dueNs = Math.min(dueNs, whenNs);
  }

  /**
   * Returns whether a scan begins now. If so, the caller must call {@link #end}. During the pause
   * after a scan, the next scan is due at the pause's end.
   */
  boolean begin(long nowNs) {
    if (nowNs - dueNs < 0) {
      return false;
    }
    boolean rests = nowNs - pausedUntilNs < 0;
    dueNs = rests ? pausedUntilNs : Pause.NEVER_NS;
    return !rests;
  }

  /**
   * Records the end of a scan.
   *
   * @param nextNs time of the earliest remaining timer
   */
  void end(long begunNs, long endedNs, long nextNs) {
    requestAt(nextNs);
    pausedUntilNs = endedNs + (endedNs - begunNs) * PAUSE_FACTOR;
  }
}
