package io.heddle.transport.control;

import java.util.function.Consumer;

/**
 * Tasks of one owner, for example a connection, on the control thread. An exception or {@link
 * Error} of a task is logged and passed to the owner: the owner's state may be inconsistent, and
 * nothing else would finish the work.
 */
public final class ControlTasks {
  private final ControlLoop loop;
  private final Consumer<Throwable> broken;
  private final Timers.Owner timers = new Timers.Owner();

  ControlTasks(ControlLoop loop, Consumer<Throwable> broken) {
    this.loop = loop;
    this.broken = broken;
  }

  /** Returns {@link ControlLoop#nanoTime}. */
  public long nanoTime() {
    return loop.nanoTime();
  }

  /** Runs a task now. Control thread. */
  public void run(Runnable task) {
    loop.guarded(task, broken);
  }

  /** Runs a task on the control thread, soon. Any thread. */
  public void execute(Runnable task) {
    loop.execute(() -> loop.guarded(task, broken));
  }

  /** Runs a task on the control thread after a delay. Control thread only. */
  public void schedule(long delayNs, Runnable action) {
    loop.schedule(delayNs, action, broken, timers);
  }

  /**
   * Cancels all pending timers of this owner. An owner that has ended must call this: a pending
   * timer keeps it in memory. Control thread only.
   */
  public void cancelScheduled() {
    loop.cancelAll(timers);
  }
}
