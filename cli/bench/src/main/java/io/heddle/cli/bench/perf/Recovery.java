package io.heddle.cli.bench.perf;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an event in the middle of a run did to its throughput, by the completions of its ranks.
 *
 * @param usualGapMs how long a rank has no completion where nothing happens: the median of what
 *     each second before the event had for its longest
 * @param gapMs the same, longest, of the second after it; one that begins there counts to its end
 * @param fullSpeedMs from the event until the job is at full speed: behind the longest gap, where
 *     that is more than twice the usual one, the first 20 ms in which as much is done as in all but
 *     the slowest tenth of such windows at the end, at most 80 % of the mean there and at least
 *     half of that; null where it never happened
 * @param beforeMegabytesPerSecond what was carried before
 * @param afterMegabytesPerSecond what was carried once all was settled
 */
record Recovery(
    double usualGapMs,
    double gapMs,
    @Nullable Double fullSpeedMs,
    double beforeMegabytesPerSecond,
    double afterMegabytesPerSecond) {
  /** In seconds. */
  static final double WINDOW = 0.02;

  static final double FULL = 0.8;
  static final double STALL = 2;
  private static final int SLOWEST_PART = 10;
  private static final double STEP = 0.001;
  private static final double MS = 1e3;
  private static final double MEGA = 1e6;

  /** Whether the job stood still for longer than it does anyway. */
  boolean isStall() {
    return gapMs > STALL * usualGapMs;
  }

  /**
   * @param ranks what each did
   * @param event when it happened, on the completions' clock; as long before it as after it is
   *     looked at
   * @param seconds how long after the event is looked at, in whole seconds; the last third is taken
   *     for steady
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

  /* What all but the slowest tenth of the windows have. */
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
