package io.heddle.transport.failover;

import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.SubFlow;

/**
 * Watches what is still under way on planes whose routes are gone. It may arrive, and then the
 * plane is left without a failure; where nothing is answered the plane is silent, and to wait for
 * its retries would be idle. Control thread.
 */
final class WithdrawnPlanes {
  /**
   * Silent is who answers nothing for so many times as long as sends have taken lately, within
   * bounds: a process may be kept from its processor for the least of them, and what has taken
   * longer than the other by the plane's own fault isn't worth waiting for.
   */
  private static final int SILENCE_FACTOR = 4;

  private static final long MIN_SILENCE_NS = 20_000_000;
  private static final long MAX_SILENCE_NS = 60_000_000;
  private static final int LOOKS = 4;

  /** Hears of a plane that answers nothing. */
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

  /** Watches until nothing is under way on the plane, or this end has failed. */
  void watch(FailoverPlane plane) {
    poll(plane, plane.epoch, -1, -1, tasks.nanoTime());
  }

  /** The connection is closed: what a look touches is gone. Control thread. */
  void end() {
    over = true;
  }

  /** How long no answer is no silence yet where sends take so long. */
  static long silenceLimitNs(long usualNs) {
    return Math.clamp(SILENCE_FACTOR * usualNs, MIN_SILENCE_NS, MAX_SILENCE_NS);
  }

  /*
   * Where the other planes have something under way and have answered nothing in all that time either, the peer is slow.
   * What was answered before is what was when the plane, or a slow peer's other planes, were last seen to answer.
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
    long usualNs = 0;
    end.baton().await();
    try {
      if (end.hasFailed()) {
        return;
      }
      end.takeCompletions();
      for (SubFlow flow : end.flows()) {
        if (flow.plane == plane.index) {
          unanswered += flow.unanswered();
          answered += flow.answered();
          usualNs = Math.max(usualNs, flow.usualNs());
        } else {
          othersUnanswered += flow.unanswered();
          others += flow.answered();
        }
      }
    } finally {
      end.baton().give();
    }
    long now = tasks.nanoTime();
    long silentNs = silenceLimitNs(usualNs);
    boolean late = answered == answeredBefore && now - changedNs > silentNs;
    boolean peerIsSlow = late && othersUnanswered > 0 && others == othersBefore;
    boolean again = answered != answeredBefore || peerIsSlow;
    long since = again ? now : changedNs;
    long othersSince = again ? others : othersBefore;
    long told = answered;
    if (unanswered > 0 && late && !peerIsSlow) {
      String cause =
          "its route is gone, and %s requests have no answer for %s ms"
              .formatted(unanswered, (now - changedNs) / 1_000_000);
      listener.silent(plane, epoch, cause);
    } else if (unanswered > 0) {
      tasks.schedule(silentNs / LOOKS, () -> poll(plane, epoch, told, othersSince, since));
    }
  }
}
