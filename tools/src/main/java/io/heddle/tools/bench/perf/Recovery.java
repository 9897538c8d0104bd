package io.heddle.tools.bench.perf;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Effect of an event in the middle of a run on its throughput, by the completions of its ranks.
 *
 * @param usualGapMs usual longest time without a completion of a rank: median over the seconds
 *     before the event
 * @param gapMs longest time without a completion of a rank in the second after the event; a gap
 *     that begins there counts to its end
 * @param fullSpeedMs time from the event to full speed: the first 20 ms window, after a stall if
 *     there is one, that carries as much as all but the slowest tenth of such windows at the end;
 *     capped at 80 % of the mean there, and at least half of that; null if never reached
 * @param beforeMegabytesPerSecond throughput before the event
 * @param afterMegabytesPerSecond throughput at the end
 */
record Recovery(
    double usualGapMs,
    double gapMs,
    @Nullable Double fullSpeedMs,
    double beforeMegabytesPerSecond,
    double afterMegabytesPerSecond) {
  /** Window length, seconds. */
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
   * @param event time of the event, on the clock of the completions
   * @param seconds period to evaluate before the event, and after it, in whole seconds; the last
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

  /* Returns the throughput that all but the slowest tenth of the windows reach. */
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
