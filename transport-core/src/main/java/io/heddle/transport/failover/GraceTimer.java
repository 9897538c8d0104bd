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
  private long alone;

  /**
   * @param whenOver called once no plane was up for the grace time
   */
  GraceTimer(ControlTasks tasks, FailoverPlane[] planes, long graceNs, Runnable whenOver) {
    this.tasks = tasks;
    this.planes = planes;
    this.graceNs = graceNs;
    this.whenOver = whenOver;
  }

  long ms() {
    return graceNs / 1_000_000;
  }

  boolean anyUp() {
    return Arrays.stream(planes).anyMatch(plane -> plane.state == PlaneState.UP);
  }

  /** Restarts or stops the timer after a plane's change of state. */
  void judge() {
    if (anyUp()) {
      alone = 0;
    } else if (alone == 0) {
      alone = tasks.nanoTime();
      long since = alone;
      tasks.schedule(
          graceNs,
          () -> {
            if (alone == since) {
              whenOver.run();
            }
          });
    }
  }
}
