package io.heddle.platform;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A thread of ours that nothing ends but its own word: it does one round after another. What a
 * round throws, {@link Error}s included, is told in one line, and the thread goes on with the next
 * round after a pause that grows as long as no round succeeds. A daemon.
 *
 * <p>A thread that others depend on names what happens when no round succeeds any more: then they
 * fail, rather than wait for it for ever.
 */
public final class ResilientThread {
  /** One round. */
  @FunctionalInterface
  public interface Round {
    /**
     * @return whether there is another one
     */
    boolean next() throws Exception;
  }

  /** How many failures in a row {@link #onPersistentFailure} waits for: some four seconds. */
  public static final int MOST_FAILURES = 14;

  private static final long FIRST_PAUSE_NS = 1_000_000;
  private static final long LONGEST_PAUSE_NS = 1_000_000_000;
  private static final int DOUBLINGS = 10;

  private final Round round;
  private final FaultReporter faults;
  private final Thread thread;
  private int failures; /* in a row; the thread's own */
  private Consumer<Throwable> lost = nobodyDepends -> {};

  /** A thread that goes on for ever unless a round says that there is no other one. */
  public ResilientThread(String name, Log log, Round round) {
    this(name, 0, log, round);
  }

  /**
   * The same with a stack of this size.
   *
   * @param stackBytes 0 for the usual size
   */
  public ResilientThread(String name, long stackBytes, Log log, Round round) {
    this.round = round;
    faults = new FaultReporter(name, log);
    thread = new Thread(null, this::run, name, stackBytes);
    thread.setDaemon(true);
  }

  /**
   * What happens where {@value #MOST_FAILURES} rounds in a row have failed: on this thread, again
   * and again until it succeeds itself. Rounds go on after it, should the next ones do better.
   * Before {@link #start}.
   */
  public ResilientThread onPersistentFailure(Runnable whenLost) {
    lost = thrown -> whenLost.run();
    return this;
  }

  /**
   * @throws HeddleException where the system lets this process have no further thread
   */
  public void start() {
    start(thread);
  }

  /**
   * Starts a thread that needn't last, and tells alike where there is none to be had.
   *
   * @throws HeddleException where the system lets this process have no further thread
   */
  public static void start(Thread thread) {
    try {
      thread.start();
    } catch (OutOfMemoryError none) {
      throw new HeddleException(
          "no thread to be had for %s: %s; %s"
              .formatted(thread.getName(), none.getMessage(), ProcessLimits.ofThreads()),
          none);
    }
  }

  private void run() {
    boolean more = true;
    while (more) {
      try {
        more = isAnother();
      } catch (Throwable untold) {
        /* Somebody else has taken the memory to tell of a fault. If it comes again, so does the telling. */
        FaultReporter.releaseReserve();
      }
    }
  }

  private boolean isAnother() {
    try {
      boolean more = round.next();
      failures = 0;
      return more;
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      failures++;
      faults.report("goes on after", thrown);
      if (failures == MOST_FAILURES) {
        lose(thrown);
      }
      pause(failures);
      return true;
    }
  }

  private void lose(Throwable thrown) {
    while (!faults.reportAndHandle("does nothing any more but fail", thrown, lost)) {
      pause(MOST_FAILURES);
    }
  }

  private void pause(int failures) {
    long ns = FIRST_PAUSE_NS << Math.min(failures - 1, DOUBLINGS);
    LockSupport.parkNanos(this, Math.min(ns, LONGEST_PAUSE_NS));
  }

  /** What tells of this thread's faults. */
  public FaultReporter faults() {
    return faults;
  }

  public boolean isAlive() {
    return thread.isAlive();
  }

  /** Whether this is the thread that asks. */
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Ends a pause, or a park of the round. */
  public void unpark() {
    LockSupport.unpark(thread);
  }

  /** Waits for the thread's end, no longer than this; 0 waits for as long as it takes. */
  public void join(long limitMs) {
    try {
      thread.join(limitMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the thread's end, whatever interrupts. */
  public void joinUninterruptibly() {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
