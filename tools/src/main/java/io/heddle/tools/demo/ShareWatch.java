package io.heddle.tools.demo;

import io.heddle.platform.HeddleException;
import io.heddle.tools.job.AllReducePlan;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sampler of the bytes sent on each plane during a run. It also starts changes at set times.
 * Samples are taken on its own thread until {@link #close}, which rethrows a failure. A change runs
 * on another thread, so that sampling continues meanwhile.
 */
final class ShareWatch implements AutoCloseable {
  private static final long PERIOD_MS = 20;
  private static final double NANO = 1e-9;

  /** Source of the bytes sent so far, by plane. The list may be empty before the first bytes. */
  interface Counters {
    List<Long> read() throws IOException;
  }

  private final Counters counters;
  private final List<Change> changes;
  private final long periodMs;
  private final ShareSamples samples = new ShareSamples();
  private final Thread thread = new Thread(this::watch, "share-watch");
  private final double begun = System.nanoTime() * NANO;
  private volatile boolean ended;
  /* Seconds from the first bytes to the newest sample; negative before the first bytes. */
  private volatile double seenSeconds = -1;
  private volatile @Nullable Throwable failure;
  private final double[] changedAt;
  private final long[] changedAtMs;

  /**
   * Change to start during the run.
   *
   * @param afterSeconds seconds since the first bytes
   */
  record Change(double afterSeconds, Runnable action) {}

  ShareWatch(Counters counters, double changeAfterSeconds, Runnable change) {
    this(counters, List.of(new Change(changeAfterSeconds, change)));
  }

  /**
   * Starts sampling with the default period.
   *
   * @param changes changes in order of their time
   */
  ShareWatch(Counters counters, List<Change> changes) {
    this(counters, changes, PERIOD_MS);
  }

  /**
   * Starts sampling.
   *
   * @param changes changes in order of their time
   * @param periodMs period between two samples, ms
   */
  ShareWatch(Counters counters, List<Change> changes, long periodMs) {
    this.counters = counters;
    this.periodMs = periodMs;
    this.changes = List.copyOf(changes);
    this.changedAt = new double[changes.size()];
    this.changedAtMs = new long[changes.size()];
    thread.start();
  }

  private void watch() {
    Thread acting = null;
    try {
      int next = 0;
      while (!ended) {
        List<Long> bytes = read();
        double now = System.nanoTime() * NANO;
        if (bytes.stream().anyMatch(each -> each > 0)) {
          samples.add(now, bytes);
          seenSeconds = now - samples.first();
          if (next < changes.size() && now - samples.first() >= changes.get(next).afterSeconds()) {
            if (acting != null) {
              acting.join();
            }
            changedAt[next] = now;
            changedAtMs[next] = System.currentTimeMillis();
            acting = startAction(changes.get(next++).action());
          }
        }
        TimeUnit.MILLISECONDS.sleep(periodMs);
      }
      if (acting != null) {
        acting.join();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (Throwable failed) {
      failure = failed;
      ended = true;
    }
  }

  private Thread startAction(Runnable action) {
    return Thread.ofPlatform()
        .name("share-watch-change")
        .start(() -> {
          try {
            action.run();
          } catch (Throwable failed) {
            failure = failed;
            ended = true;
          }
        });
  }

  /*
   * Returns the bytes sent on each plane. Before the first sample the ranks' statistics files may
   * be incomplete, so a failure to read them counts as no bytes.
   */
  private List<Long> read() throws IOException {
    try {
      return counters.read();
    } catch (HeddleException unreadable) {
      if (samples.isEmpty()) {
        return List.of();
      }
      throw unreadable;
    }
  }

  /**
   * Returns whether sampling can end: it has lasted long enough or failed, or the first bytes are
   * overdue.
   *
   * @param seconds duration to sample, in seconds since the first bytes
   * @param firstWithin seconds from the start within which the first bytes must arrive
   */
  boolean isComplete(double seconds, double firstWithin) {
    double seen = seenSeconds;
    return ended
        || seen >= seconds
        || (seen < 0 && System.nanoTime() * NANO - begun >= firstWithin);
  }

  /**
   * Returns an action that ends the ranks once {@link #isComplete} is true. The caller runs it
   * repeatedly during a run.
   *
   * @param seconds duration to sample, in seconds since the first bytes
   * @param firstWithin seconds from the start within which the first bytes must arrive
   */
  Runnable endWhenComplete(AllReducePlan.Watched ranks, double seconds, double firstWithin) {
    return () -> {
      if (isComplete(seconds, firstWithin)) {
        ranks.end();
      }
    };
  }

  /** Returns whether any change was started; valid after {@link #close}. */
  boolean hasChanged() {
    return changedAt[0] > 0;
  }

  /**
   * Returns the start of the first change, in seconds of the samples' clock; valid after {@link
   * #close}.
   */
  double changedAt() {
    return changedAt(0);
  }

  /**
   * Returns the start of the first change in milliseconds since 1970, the clock of the ranks'
   * statistics.
   */
  long changedAtMs() {
    return changedAtMs[0];
  }

  /** Returns the start of a change, in seconds of the samples' clock. */
  double changedAt(int change) {
    if (changedAt[change] <= 0) {
      throw new HeddleException(
          "the run ended before the change after "
              + changes.get(change).afterSeconds()
              + " s; use larger sizes or smaller rates");
    }
    return changedAt[change];
  }

  /** Returns the samples; valid after {@link #close}. */
  ShareSamples samples() {
    return samples;
  }

  @Override
  public void close() throws InterruptedException {
    ended = true;
    thread.join();
    Throwable failed = failure;
    if (failed != null) {
      throw new HeddleException("sampling the run failed: " + failed, failed);
    }
  }
}
