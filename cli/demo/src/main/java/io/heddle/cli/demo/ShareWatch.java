package io.heddle.cli.demo;

import io.heddle.cli.job.AllReducePlan;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Samples counters while a run goes on, and makes changes in its middle. A thread of its own until
 * {@link #close}, which hands on what went wrong there; a change has another one, so that it is
 * seen while it is made.
 */
final class ShareWatch implements AutoCloseable {
  private static final long PERIOD_MS = 20;
  private static final double NANO = 1e-9;

  /** Bytes by plane so far; empty while there are none. */
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
  /* Since the first bytes; none before. */
  private volatile double seenSeconds = -1;
  private volatile @Nullable Throwable failure;
  private final double[] changedAt;
  private final long[] changedAtMs;

  /**
   * Something to be done.
   *
   * @param afterSeconds since the first bytes
   */
  record Change(double afterSeconds, Runnable action) {}

  ShareWatch(Counters counters, double changeAfterSeconds, Runnable change) {
    this(counters, List.of(new Change(changeAfterSeconds, change)));
  }

  /**
   * @param changes in order of time
   */
  ShareWatch(Counters counters, List<Change> changes) {
    this(counters, changes, PERIOD_MS);
  }

  /**
   * @param changes in order of time
   * @param periodMs between two samples
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
            acting = act(changes.get(next++).action());
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

  private Thread act(Runnable action) {
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

  /* The ranks' files appear empty before they are whole. */
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
   * Whether there is no more to be seen.
   *
   * @param seconds that are to be seen from the first bytes on
   * @param firstWithin seconds from the start in which the first bytes are to come
   * @return true also where the watching has failed
   */
  boolean hasSeen(double seconds, double firstWithin) {
    double seen = seenSeconds;
    return ended
        || seen >= seconds
        || (seen < 0 && System.nanoTime() * NANO - begun >= firstWithin);
  }

  /**
   * What ends ranks once there is no more to be seen, for a run to call while it is idle.
   *
   * @param seconds that are to be seen from the first bytes on
   * @param firstWithin seconds from the start in which the first bytes are to come
   */
  Runnable ending(AllReducePlan.Watched ranks, double seconds, double firstWithin) {
    return () -> {
      if (hasSeen(seconds, firstWithin)) {
        ranks.end();
      }
    };
  }

  /** After {@link #close}: whether any change was begun. */
  boolean hasChanged() {
    return changedAt[0] > 0;
  }

  /** After {@link #close}: when the only change was begun, in seconds of the samples' clock. */
  double changedAt() {
    return changedAt(0);
  }

  /** The same by the clock of the ranks' statistics, milliseconds since 1970. */
  long changedAtMs() {
    return changedAtMs[0];
  }

  /** The same of each change. */
  double changedAt(int change) {
    if (changedAt[change] <= 0) {
      throw new HeddleException(
          "the run ended before the change after "
              + changes.get(change).afterSeconds()
              + " s; ask for larger sizes or smaller rates");
    }
    return changedAt[change];
  }

  /** After {@link #close}. */
  ShareSamples samples() {
    return samples;
  }

  @Override
  public void close() throws InterruptedException {
    ended = true;
    thread.join();
    Throwable failed = failure;
    if (failed != null) {
      throw new HeddleException("watching the run failed: " + failed, failed);
    }
  }
}
