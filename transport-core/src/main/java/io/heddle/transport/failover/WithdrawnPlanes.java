package io.heddle.transport.failover;

import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.SubFlow;

/**
 * Watch over requests in flight on planes whose routes are withdrawn. If all complete, the
 * connection leaves the plane without a failure. If none is answered for a while, the plane counts
 * as silent and fails, since waiting for the end of the retries would only cost time. Control
 * thread.
 */
final class WithdrawnPlanes {
  /**
   * A plane is silent after this multiple of the recent duration of sends, within bounds. The lower
   * bound covers a peer that is descheduled for a while. The upper bound limits the wait for a slow
   * plane.
   */
  private static final int SILENCE_FACTOR = 4;

  private static final long MIN_SILENCE_NS = 20_000_000;
  private static final long MAX_SILENCE_NS = 60_000_000;
  private static final int POLLS = 4;

  /** Listener of silent planes. */
  interface Listener {
    void silent(FailoverPlane plane, int epoch, String cause);
  }

  private final ControlTasks tasks;
  private final Communicator end;
  private final Listener listener;
  private boolean over;

  WithdrawnPlanes(ControlTasks tasks, Communicator end, Listener listener) {
    this.tasks = tasks;
    this.end = end;
    this.listener = listener;
  }

  /** Watches until nothing is in flight on the plane, or this end has failed. */
  void watch(FailoverPlane plane) {
    poll(plane, plane.epoch, -1, -1, tasks.nanoTime());
  }

  /** Stops watching: the connection is closed, and its memory is gone. Control thread. */
  void end() {
    over = true;
  }

  /**
   * Returns the time without an answer after which a plane is silent, from the recent duration of
   * sends.
   */
  static long silenceLimitNs(long averageSendNs) {
    return Math.clamp(SILENCE_FACTOR * averageSendNs, MIN_SILENCE_NS, MAX_SILENCE_NS);
  }

  /*
   * Polls the plane's sub-flows. If the plane is silent, but the other planes have requests in
   * flight too and have answered none meanwhile, the peer is slow, and the plane hasn't failed.
   * answeredBefore and othersBefore are the numbers of answers on this plane and on the other
   * planes at changedNs: the time at which this plane last had a new answer, or the peer was found
   * to be slow.
   */
  private void poll(
      FailoverPlane plane, int epoch, long answeredBefore, long othersBefore, long changedNs) {
    if (over || plane.state != PlaneState.UP || plane.epoch != epoch) {
      return;
    }
    int unanswered = 0;
    int othersUnanswered = 0;
    long answered = 0;
    long others = 0;
    long averageSendNs = 0;
    end.baton().take();
    try {
      if (end.hasFailed()) {
        return;
      }
      end.takeCompletions();
      for (SubFlow flow : end.flows()) {
        if (flow.plane == plane.index) {
          unanswered += flow.unanswered();
          answered += flow.answered();
          averageSendNs = Math.max(averageSendNs, flow.averageSendNs());
        } else {
          othersUnanswered += flow.unanswered();
          others += flow.answered();
        }
      }
    } finally {
      end.baton().release();
    }
    long now = tasks.nanoTime();
    long silentNs = silenceLimitNs(averageSendNs);
    boolean late = answered == answeredBefore && now - changedNs > silentNs;
    boolean peerIsSlow = late && othersUnanswered > 0 && others == othersBefore;
    boolean again = answered != answeredBefore || peerIsSlow;
    long since = again ? now : changedNs;
    long othersSince = again ? others : othersBefore;
    long answeredNow = answered;
    if (unanswered > 0 && late && !peerIsSlow) {
      String cause =
          "its route is gone, and %s requests have no answer for %s ms"
              .formatted(unanswered, (now - changedNs) / 1_000_000);
      listener.silent(plane, epoch, cause);
    } else if (unanswered > 0) {
      tasks.schedule(silentNs / POLLS, () -> poll(plane, epoch, answeredNow, othersSince, since));
    }
  }
}
