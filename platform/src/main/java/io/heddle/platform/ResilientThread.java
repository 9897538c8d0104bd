package io.heddle.platform;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Daemon thread that survives failures of its code. It runs a method, one round after another,
 * until a round returns false. A failed round is logged in one line, even if it fails with an
 * {@link Error}. The next round begins after a pause, which doubles while rounds fail.
 *
 * <p>After too many failed rounds in a row, a handler fails the work that depends on the thread, so
 * that nothing waits for ever ({@link #onPersistentFailure}).
 */
public final class ResilientThread {
  /** Method that the thread runs in each round. */
  @FunctionalInterface
  public interface Round {
    /**
     * Runs one round.
     *
     * @return whether to run another round
     */
    boolean next() throws Exception;
  }

  /**
   * Number of failed rounds in a row after which the handler of {@link #onPersistentFailure} runs.
   * With their pauses, they take about four seconds.
   */
  public static final int MOST_FAILURES = 14;

  private static final long FIRST_PAUSE_NS = 1_000_000;
  private static final long LONGEST_PAUSE_NS = 1_000_000_000;
  private static final int DOUBLINGS = 10;

  private final Round round;
  private final FaultReporter faults;
  private final Thread thread;
  private int failures; /* consecutive failures; only the thread accesses them */
  private Consumer<Throwable> lost = ignored -> {};

  /** Creates a thread that runs until a round returns false. */
  public ResilientThread(String name, Log log, Round round) {
    this(name, 0, log, round);
  }

  /**
   * Creates a thread with a stack of this size.
   *
   * @param stackBytes size of the stack, or 0 for the default
   */
  public ResilientThread(String name, long stackBytes, Log log, Round round) {
    this.round = round;
    faults = new FaultReporter(name, log);
    thread = new Thread(null, this::run, name, stackBytes);
    thread.setDaemon(true);
  }

  /**
   * Sets the handler for {@value #MOST_FAILURES} failed rounds in a row. This thread runs the
   * handler, and repeats it until it succeeds. Then the rounds continue, since they may succeed
   * again. Call this method before {@link #start}.
   */
  public ResilientThread onPersistentFailure(Runnable whenLost) {
    lost = thrown -> whenLost.run();
    return this;
  }

  /**
   * Starts this thread.
   *
   * @throws HeddleException if the process has reached its limit of threads or memory
   */
  public void start() {
    start(thread);
  }

  /**
   * Starts a thread of any kind, not only that of a {@link ResilientThread}.
   *
   * @throws HeddleException if the process has reached its limit of threads or memory
   */
  public static void start(Thread thread) {
    try {
      thread.start();
    } catch (OutOfMemoryError none) {
      throw new HeddleException(
          "can't start thread %s: %s; %s"
              .formatted(thread.getName(), none.getMessage(), ProcessLimits.ofThreads()),
          none);
    }
  }

  private void run() {
    boolean more = true;
    while (more) {
      try {
        more = runRound();
      } catch (Throwable untold) {
        /*
         * The report itself failed, because another thread used up the memory that the released
         * reserve had freed. If the fault recurs, it is reported then.
         */
        FaultReporter.releaseReserve();
      }
    }
  }

  private boolean runRound() {
    try {
      boolean more = round.next();
      failures = 0;
      return more;
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      failures++;
      faults.report("continues after", thrown);
      if (failures == MOST_FAILURES) {
        reportPersistentFailure(thrown);
      }
      pause(failures);
      return true;
    }
  }

  private void reportPersistentFailure(Throwable thrown) {
    while (!faults.reportAndHandle("fails in every round", thrown, lost)) {
      pause(MOST_FAILURES);
    }
  }

  private void pause(int failures) {
    long ns = FIRST_PAUSE_NS << Math.min(failures - 1, DOUBLINGS);
    LockSupport.parkNanos(this, Math.min(ns, LONGEST_PAUSE_NS));
  }

  /** Returns the reporter of this thread's faults. */
  public FaultReporter faults() {
    return faults;
  }

  public boolean isAlive() {
    return thread.isAlive();
  }

  /** Returns whether the calling thread is this thread. */
  public boolean isCurrent() {
    return Thread.currentThread() == thread;
  }

  /** Ends the pause between two rounds, or wakes a round that has parked the thread. */
  public void unpark() {
    LockSupport.unpark(thread);
  }

  /** Waits for the thread's end. A limit of 0 waits without limit. */
  public void join(long limitMs) {
    try {
      thread.join(limitMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the thread's end, and restores the interrupt status afterwards. */
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
