package io.heddle.platform.testing;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Time limit for a wait of a test, in seconds of an idle machine. While tasks of this host wait for
 * a processor, the limit's clock runs at an eighth of its speed, so a busy machine doesn't make the
 * test fail. If the test hangs, the wait ends after the limit on an idle machine, and after eight
 * times the limit at the latest.
 */
public final class Deadline {
  private static final int MOST_STRETCH = 8;
  private static final long STEP_MS = 100;
  private static final long OUTPUT_POLL_MS = 20;
  /* Shortest time between two reads of the kernel's file, since callers may poll often. */
  private static final long POLL_NS = 10_000_000;

  private final long limitNs;
  private final LongSupplier clock;
  private final LongSupplier stalled;
  private long lastNs;
  private long lastStalledNs;
  private long usedNs;
  private final long beganNs;

  Deadline(long limitNs, LongSupplier clock, LongSupplier stalled) {
    this.limitNs = limitNs;
    this.clock = clock;
    this.stalled = stalled;
    beganNs = clock.getAsLong();
    lastNs = beganNs;
    lastStalledNs = stalled.getAsLong();
  }

  public static Deadline ofSeconds(long seconds) {
    return new Deadline(
        TimeUnit.SECONDS.toNanos(seconds), System::nanoTime, CpuPressure::nanoseconds);
  }

  /** Returns whether the time is over. Any thread may call it. */
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

  /*
   * Returns how much of {@code passedNs} counts against the limit. In {@code stalledNs} of that
   * time, tasks waited for a processor.
   */
  static long idleNs(long passedNs, long stalledNs) {
    return Math.max(passedNs / MOST_STRETCH, passedNs - Math.max(0, stalledNs));
  }

  /** Returns a new limit: the remaining time of this one, but at most this many seconds. */
  public synchronized Deadline atMostSeconds(long seconds) {
    long left = Math.min(limitNs - usedNs, TimeUnit.SECONDS.toNanos(seconds));
    return new Deadline(left, clock, stalled);
  }

  /** Waits for a process to end. Returns whether it ended in time. */
  public boolean awaitExit(Process process) throws InterruptedException {
    while (!process.waitFor(STEP_MS, TimeUnit.MILLISECONDS)) {
      if (isOver()) {
        return false;
      }
    }
    return true;
  }

  /** Source of the output that a program has printed so far. */
  public interface OutputSource {
    String read() throws IOException;
  }

  /**
   * Waits until the output contains these words. The output is read once more after its end, so the
   * last words are found too.
   *
   * @param ended returns whether the output is complete
   * @return whether the words appeared in time
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
   * @throws TimeoutException if the time is over
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

  /** Returns the limit and the elapsed time, for the message of a failed test. */
  @Override
  public String toString() {
    return "%s s of an idle machine (%s s by the clock)"
        .formatted(
            TimeUnit.NANOSECONDS.toSeconds(limitNs),
            TimeUnit.NANOSECONDS.toSeconds(clock.getAsLong() - beganNs));
  }
}
