package io.heddle.tools.bench.perf;

import io.heddle.tools.bench.contest.Quantiles;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Effect of an event in the middle of a run on the throughput, by the completion times of the
 * ranks' sends.
 *
 * @param usualGapMs usual length of the longest gap between completions of a rank, ms: each second
 *     before the event has a longest gap, and this is their median
 * @param gapMs longest gap between completions of a rank in the second after the event, ms; a gap
 *     that begins in this second counts up to its end
 * @param fullSpeedMs time from the event to full speed, ms; null if never reached. Full speed is
 *     reached at the first 20 ms window, after a stall if there is one, whose throughput is at
 *     least a limit. The limit is the throughput that all but the slowest tenth of such windows
 *     have at the end of the run, but at most 80 % and at least 40 % of the mean throughput at the
 *     end of the run.
 * @param beforeMegabytesPerSecond throughput before the event, MB/s
 * @param afterMegabytesPerSecond throughput at the end of the run, MB/s
 */
record Recovery(
    double usualGapMs,
    double gapMs,
    @Nullable Double fullSpeedMs,
    double beforeMegabytesPerSecond,
    double afterMegabytesPerSecond) {
  /** Length of a window, seconds. */
  static final double WINDOW = 0.02;

  static final double FULL = 0.8;
  static final double STALL = 2;
  private static final int SLOWEST_PART = 10;
  private static final double STEP = 0.001;
  private static final double MS = 1e3;
  private static final double MEGA = 1e6;

  /** Returns whether the longest gap is more than twice the usual one. */
  boolean isStall() {
    return gapMs > STALL * usualGapMs;
  }

  /**
   * Evaluates a run.
   *
   * @param ranks completions of each rank
   * @param event time of the event, in seconds of the completions' clock
   * @param seconds number of seconds to evaluate before the event, and again after it; the last
   *     third counts as steady
   */
  static Recovery of(List<Completions> ranks, double event, int seconds) {
    double end = event + seconds;
    double[] usual = new double[seconds];
    for (int i = 0; i < seconds; i++) {
      usual[i] = longestGap(ranks, event - i - 1, event - i, event - i).seconds();
    }
    double usualMs = MS * Quantiles.of(Arrays.stream(usual)).median();
    Completions.Gap gap = longestGap(ranks, event, event + 1, end);
    double steady = rate(ranks, end - seconds / 3.0, end);
    Recovery found =
        new Recovery(
            usualMs,
            MS * gap.seconds(),
            null,
            rate(ranks, event - seconds, event) / MEGA,
            steady / MEGA);
    if (steady <= 0) {
      return found;
    }
    double enough =
        Math.clamp(slowest(ranks, end - seconds / 3.0, end), FULL / 2 * steady, FULL * steady);
    double from = found.isStall() ? gap.to() : event;
    for (double time = from; time + WINDOW <= end; time += STEP) {
      if (rate(ranks, time, time + WINDOW) >= enough) {
        return found.at(MS * (time - event));
      }
    }
    return found;
  }

  private Recovery at(double fullSpeed) {
    return new Recovery(
        usualGapMs, gapMs, fullSpeed, beforeMegabytesPerSecond, afterMegabytesPerSecond);
  }

  private static Completions.Gap longestGap(
      List<Completions> ranks, double from, double to, double end) {
    return ranks.stream()
        .map(rank -> rank.longestGap(from, to, end))
        .max(Comparator.comparingDouble(Completions.Gap::seconds))
        .orElseThrow();
  }

  private static double rate(List<Completions> ranks, double from, double to) {
    long bytes = 0;
    for (Completions rank : ranks) {
      bytes += rank.bytesAt(to) - rank.bytesAt(from);
    }
    return bytes / (to - from);
  }

  /*
   * Returns the throughput that all but the slowest tenth of the windows reach, in bytes per
   * second.
   */
  private static double slowest(List<Completions> ranks, double from, double to) {
    int count = (int) ((to - from - WINDOW) / STEP);
    double[] rates = new double[count];
    for (int i = 0; i < count; i++) {
      rates[i] = rate(ranks, from + i * STEP, from + i * STEP + WINDOW);
    }
    Arrays.sort(rates);
    return rates[count / SLOWEST_PART];
  }
}
