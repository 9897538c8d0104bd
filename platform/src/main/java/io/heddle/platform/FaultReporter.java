package io.heddle.platform;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a thread of ours does with an exception or {@link Error} that nobody expected: tells it in
 * one line, and has whoever depends on what was being done deal with it.
 *
 * <p>The worst time for both is when the heap is full: even to name a sentence for the first time
 * takes memory. So some is set aside for the whole process, and {@link #releaseReserve} is the
 * first word of whoever catches what nobody expected; the sentence for when that doesn't help is
 * there already, and whatever fails on the way is caught. The same fault over and over is told at
 * the first, second, fourth, eighth … time. Any thread.
 */
public final class FaultReporter {
  private static final int RESERVE_BYTES = 64 << 10;
  private static final int FRAMES = 4;
  private static final Consumer<Throwable> NOTHING = thrown -> {};

  @SuppressWarnings("unused") /* its size is what matters */
  private static volatile byte @Nullable [] reserve = new byte[RESERVE_BYTES];

  private static final String AND_THEN = "what follows from that failed too";

  private final Log log;
  private final String thread;
  private final String withoutMemory;

  /* The last one, and how often it came in a row. */
  private @Nullable String lastWhat;
  private @Nullable Class<?> lastKind;
  private long times;

  /**
   * @param thread whose faults they are, for the line
   */
  public FaultReporter(String thread, Log log) {
    this.log = log;
    this.thread = thread;
    withoutMemory = thread + " met an error, and there is no memory to say which";
  }

  /** Lets the memory go that was set aside, until the fault is told. Needs none itself. */
  public static void releaseReserve() {
    reserve = null;
  }

  /**
   * Tells of a fault.
   *
   * @param what was being done, as the beginning of a sentence
   */
  public void report(String what, Throwable thrown) {
    reportAndHandle(what, thrown, NOTHING);
  }

  /**
   * Tells of a fault and then has its consequences drawn.
   *
   * @param what was being done, as the beginning of a sentence
   * @param consequence what depends on it fails; made before it is needed
   * @return false where the consequence failed itself, which is told too
   */
  public synchronized boolean reportAndHandle(
      String what, Throwable thrown, Consumer<? super Throwable> consequence) {
    releaseReserve();
    try {
      if (isNews(what, thrown)) {
        write(what, thrown);
      }
      consequence.accept(thrown);
      return true;
    } catch (Throwable second) {
      write(AND_THEN, second);
      return false;
    } finally {
      setAside();
    }
  }

  private boolean isNews(String what, Throwable thrown) {
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
        /* There is nobody to tell. What depends on it still fails, and its caller tells of that. */
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

  private static void setAside() {
    try {
      reserve = new byte[RESERVE_BYTES];
    } catch (OutOfMemoryError stillFull) {
      reserve = null; /* the next fault does without */
    }
  }
}
