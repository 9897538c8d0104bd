package io.heddle.platform.testing;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Load-aware time limit for a test's wait, in seconds of an idle machine: while tasks wait for a
 * processor, its clock runs at an eighth of its pace. So a hang is found after the limit on an idle
 * machine, and after eight times the limit at the latest; a busy moment is no failure.
 */
public final class Patience {
  private static final int MOST_STRETCH = 8;
  private static final long STEP_MS = 100;
  private static final long OUTPUT_POLL_MS = 20;
  /* A polling caller doesn't read the kernel's file each time. */
  private static final long POLL_NS = 10_000_000;

  private final long limitNs;
  private final LongSupplier clock;
  private final LongSupplier stalled;
  private long lastNs;
  private long lastStalledNs;
  private long usedNs;
  private final long beganNs;

  Patience(long limitNs, LongSupplier clock, LongSupplier stalled) {
    this.limitNs = limitNs;
    this.clock = clock;
    this.stalled = stalled;
    beganNs = clock.getAsLong();
    lastNs = beganNs;
    lastStalledNs = stalled.getAsLong();
  }

  public static Patience ofSeconds(long seconds) {
    return new Patience(
        TimeUnit.SECONDS.toNanos(seconds), System::nanoTime, CpuPressure::nanoseconds);
  }

  /** Returns whether the time is over. Any thread. */
  public synchronized boolean isOver() {
    long now = clock.getAsLong();
    long passed = now - lastNs;
    if (passed < POLL_NS) {
      return usedNs > limitNs;
    }
    long nowStalled = stalled.getAsLong();
    usedNs += idleNs(passed, nowStalled - lastStalledNs);
    lastNs = now;
    lastStalledNs = nowStalled;
    return usedNs > limitNs;
  }

  /* Returns the part of a time that counts against the limit; stalledNs of it tasks waited for a processor. */
  static long idleNs(long passedNs, long stalledNs) {
    return Math.max(passedNs / MOST_STRETCH, passedNs - Math.max(0, stalledNs));
  }

  /** Returns a limit of its remaining time, at most these seconds. */
  public synchronized Patience atMostSeconds(long seconds) {
    long left = Math.min(limitNs - usedNs, TimeUnit.SECONDS.toNanos(seconds));
    return new Patience(left, clock, stalled);
  }

  /** Waits for a process to end; returns whether it did in time. */
  public boolean awaitExit(Process process) throws InterruptedException {
    while (!process.waitFor(STEP_MS, TimeUnit.MILLISECONDS)) {
      if (isOver()) {
        return false;
      }
    }
    return true;
  }

  /** Source of the output so far. */
  public interface OutputSource {
    String read() throws IOException;
  }

  /**
   * Waits until the output contains these words. Output at the very end counts: it is read once
   * more after the end.
   *
   * @param ended whether no more output will come
   * @return whether they appeared in time
   */
  public boolean awaitOutput(String words, OutputSource output, BooleanSupplier ended)
      throws IOException, InterruptedException {
    boolean over = false;
    while (!output.read().contains(words)) {
      if (over) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(OUTPUT_POLL_MS);
      over = isOver() || ended.getAsBoolean();
    }
    return true;
  }

  /**
   * Waits for a result.
   *
   * @throws TimeoutException when the time is over
   */
  public <T> T get(Future<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    while (true) {
      try {
        return future.get(STEP_MS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException notYet) {
        if (isOver()) {
          throw new TimeoutException("nothing within " + this);
        }
      }
    }
  }

  /** Returns the limit and the elapsed time, for a failure's message. */
  @Override
  public String toString() {
    return "%s s of an idle machine (%s s by the clock)"
        .formatted(
            TimeUnit.NANOSECONDS.toSeconds(limitNs),
            TimeUnit.NANOSECONDS.toSeconds(clock.getAsLong() - beganNs));
  }
}
