package io.heddle.transport.control;

import java.util.function.Consumer;

/**
 * What one owner, a connection say, has the control thread do. Whatever of it ends with an
 * exception or {@link Error} is told, and the owner hears of it: it may be half done, and nobody
 * would go on with it.
 */
public final class ControlTasks {
  private final ControlLoop loop;
  private final Consumer<Throwable> broken;
  private final Timers.Owner timers = new Timers.Owner();

  ControlTasks(ControlLoop loop, Consumer<Throwable> broken) {
    this.loop = loop;
    this.broken = broken;
  }

  /** As {@link ControlLoop#nanoTime}. */
  public long nanoTime() {
    return loop.nanoTime();
  }

  /** Runs something now. Control thread. */
  public void run(Runnable task) {
    loop.guarded(task, broken);
  }

  /** Runs something on the control thread, soon. Any thread. */
  public void execute(Runnable task) {
    loop.execute(() -> loop.guarded(task, broken));
  }

  /** Runs something on the control thread after a delay. Control thread only. */
  public void schedule(long delayNs, Runnable action) {
    loop.schedule(delayNs, action, broken, timers);
  }

  /**
   * Cancels all that was scheduled here and hasn't run. An owner that has ended must do this: until
   * its time comes a timer keeps its owner in memory. Control thread only.
   */
  public void cancelScheduled() {
    loop.cancelAll(timers);
  }
}
