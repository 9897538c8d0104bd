package io.heddle.transport.connection;

import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlTasks;

/**
 * Limit of a peer's silence. Each message restarts it; cancelling the tasks ends it. Control
 * thread.
 */
final class SilenceLimit {
  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final long limitNs;
  private final Runnable exceeded;
  private long heardNs;

  SilenceLimit(ControlLoop loop, ControlTasks tasks, long limitNs, Runnable exceeded) {
    this.loop = loop;
    this.tasks = tasks;
    this.limitNs = limitNs;
    this.exceeded = exceeded;
  }

  /** Restarts the limit, since a message has come. */
  void heard() {
    heardNs = loop.nanoTime();
  }

  /** Begins to await the first message. */
  void begin() {
    heard();
    await();
  }

  /** Awaits messages until the peer has been silent for too long. */
  void await() {
    await(limitNs);
  }

  private void await(long forNs) {
    tasks.schedule(
        forNs,
        () -> {
          long leftNs = limitNs - (loop.nanoTime() - heardNs);
          if (leftNs <= 0) {
            exceeded.run();
          } else {
            await(leftNs);
          }
        });
  }
}
