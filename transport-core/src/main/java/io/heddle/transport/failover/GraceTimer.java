package io.heddle.transport.failover;

import io.heddle.transport.control.ControlTasks;
import java.util.Arrays;

/** Timer that limits how long a connection goes on without any plane that is up. Control thread. */
final class GraceTimer {
  private final ControlTasks tasks;
  private final FailoverPlane[] planes;
  private final long graceNs;
  private final Runnable whenOver;

  /* Time since which no plane has been up; 0 while one is. */
  private long downSinceNs;

  /**
   * @param whenOver called once no plane was up for the grace time
   */
  GraceTimer(ControlTasks tasks, FailoverPlane[] planes, long graceNs, Runnable whenOver) {
    this.tasks = tasks;
    this.planes = planes;
    this.graceNs = graceNs;
    this.whenOver = whenOver;
  }

  long graceMs() {
    return graceNs / 1_000_000;
  }

  boolean isAnyUp() {
    return Arrays.stream(planes).anyMatch(plane -> plane.state == PlaneState.UP);
  }

  /** Restarts or stops the timer after a plane's change of state. */
  void update() {
    if (isAnyUp()) {
      downSinceNs = 0;
    } else if (downSinceNs == 0) {
      downSinceNs = tasks.nanoTime();
      long since = downSinceNs;
      tasks.schedule(
          graceNs,
          () -> {
            if (downSinceNs == since) {
              whenOver.run();
            }
          });
    }
  }
}
