package io.heddle.platform;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reporter of a thread's unexpected exceptions and {@link Error}s: it logs a fault in one line, and
 * then runs a handler that fails the work that depends on the thread.
 *
 * <p>It works even if the heap is full. The process keeps a memory reserve, which a catch block
 * releases first ({@link #releaseReserve}). A fallback sentence is created in advance, and failures
 * while reporting are caught. A repeated fault is logged at its first, second, fourth, eighth and
 * so on occurrence. Any thread may call it.
 */
public final class FaultReporter {
  private static final int RESERVE_BYTES = 64 << 10;
  private static final int FRAMES = 4;
  private static final Consumer<Throwable> NOTHING = thrown -> {};

  @SuppressWarnings("unused") /* only its size matters */
  private static volatile byte @Nullable [] reserve = new byte[RESERVE_BYTES];

  private static final String HANDLER_FAILED = "handling the failure failed";

  private final Log log;
  private final String thread;
  private final String withoutMemory;

  /* Last fault: failed action, class of the exception, and number of occurrences in a row. */
  private @Nullable String lastWhat;
  private @Nullable Class<?> lastKind;
  private long times;

  /**
   * Creates a reporter.
   *
   * @param thread name of the thread, for the log line
   */
  public FaultReporter(String thread, Log log) {
    this.log = log;
    this.thread = thread;
    withoutMemory = thread + ": unexpected error; no memory is left to describe it";
  }

  /**
   * Releases the memory reserve, which {@link #report} allocates again. Allocates nothing itself.
   */
  public static void releaseReserve() {
    reserve = null;
  }

  /**
   * Reports a fault.
   *
   * @param what failed action, as the beginning of a sentence
   */
  public void report(String what, Throwable thrown) {
    reportAndHandle(what, thrown, NOTHING);
  }

  /**
   * Reports a fault and then runs a handler.
   *
   * @param what failed action, as the beginning of a sentence
   * @param consequence handler that fails the work that depends on the action; allocated in advance
   * @return false if the handler itself failed, which is reported too
   */
  public synchronized boolean reportAndHandle(
      String what, Throwable thrown, Consumer<? super Throwable> consequence) {
    releaseReserve();
    try {
      if (isNewFault(what, thrown)) {
        write(what, thrown);
      }
      consequence.accept(thrown);
      return true;
    } catch (Throwable second) {
      write(HANDLER_FAILED, second);
      return false;
    } finally {
      refillReserve();
    }
  }

  private boolean isNewFault(String what, Throwable thrown) {
    if (!what.equals(lastWhat) || thrown.getClass() != lastKind) {
      lastWhat = what;
      lastKind = thrown.getClass();
      times = 0;
    }
    return Long.bitCount(++times) == 1;
  }

  private void write(String what, Throwable thrown) {
    try {
      log.write(Log.Level.WARN, sentence(what, thrown));
    } catch (Throwable noMemory) {
      try {
        log.write(Log.Level.WARN, withoutMemory);
      } catch (Throwable noLog) {
        /*
         * Nothing can be logged. The handler still fails the work that depends on the action, and
         * its callers report that.
         */
        times = 0;
      }
    }
  }

  private String sentence(String what, Throwable thrown) {
    StringBuilder text = new StringBuilder(thread).append(": ").append(what).append(": ");
    text.append(thrown.toString().replace('\n', ' '));
    if (!(thrown instanceof HeddleException)) {
      StackTraceElement[] frames = thrown.getStackTrace();
      for (int i = 0; i < Math.min(FRAMES, frames.length); i++) {
        text.append(i == 0 ? " at " : " < ").append(frames[i]);
      }
    }
    return times > 1
        ? text.append(" (").append(times).append(" times)").toString()
        : text.toString();
  }

  private static void refillReserve() {
    try {
      reserve = new byte[RESERVE_BYTES];
    } catch (OutOfMemoryError stillFull) {
      reserve = null; /* the next fault then has no reserve */
    }
  }
}
