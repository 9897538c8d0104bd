package io.heddle.tools;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an event in the middle of a run did to its throughput.
 *
 * @param usualGapMs the longest time without any completion before it
 * @param gapMs the longest time without any completion after it
 * @param fullSpeedMs from the event until what is carried in {@link #WINDOW} is at least {@link
 *     #FULL} of the steady rate that follows, behind the longest gap; 0 where that gap isn't longer
 *     than {@link #STALL} usual ones; null where it never happened
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
  private static final double STEP = 0.002;
  private static final double MS = 1e3;
  private static final double MEGA = 1e6;

  /** Bytes over time. */
  private record Curve(List<Double> times, List<Long> totals) {
    /* Between two samples bytes come evenly. */
    double at(double time) {
      int low = 0;
      int high = times.size() - 1;
      if (time >= times.get(high)) {
        return totals.get(high);
      }
      while (high - low > 1) {
        int middle = low + high >>> 1;
        if (times.get(middle) <= time) {
          low = middle;
        } else {
          high = middle;
        }
      }
      double span = times.get(high) - times.get(low);
      double part = span <= 0 ? 0 : Math.max(0, time - times.get(low)) / span;
      return totals.get(low) + part * (totals.get(high) - totals.get(low));
    }

    double rate(double from, double to) {
      return (at(to) - at(from)) / (to - from);
    }

    /* Start and end of the longest time in which no sample showed more than the one before. */
    double[] longestGap(double from, double to) {
      double[] longest = {from, from};
      double begun = from;
      long total = -1;
      for (int i = 0; i < times.size(); i++) {
        double time = times.get(i);
        if (time < from || time > to) {
          continue;
        }
        if (totals.get(i) != total) {
          if (total >= 0 && time - begun > longest[1] - longest[0]) {
            longest = new double[] {begun, time};
          }
          begun = time;
          total = totals.get(i);
        }
      }
      return to - begun > longest[1] - longest[0] ? new double[] {begun, to} : longest;
    }
  }

  /**
   * @param samples bytes that were acknowledged
   * @param event when it happened, on the samples' clock; as long before it as after it is looked
   *     at
   * @param seconds how long after the event is looked at; the last third is taken for steady
   */
  static Recovery of(ShareSamples samples, double event, double seconds) {
    Curve curve = new Curve(samples.times(), samples.totals());
    double end = event + seconds;
    double start = Math.max(samples.first(), event - seconds);
    double[] usual = curve.longestGap(start, event);
    double[] gap = curve.longestGap(event, end);
    double steady = curve.rate(end - seconds / 3, end);
    double usualGap = usual[1] - usual[0];
    double longest = gap[1] - gap[0];
    Double full = null;
    if (longest <= STALL * usualGap) {
      full = 0.0;
    } else {
      for (double time = gap[1]; time + WINDOW <= end && full == null; time += STEP) {
        if (curve.rate(time, time + WINDOW) >= FULL * steady) {
          full = MS * (time - event);
        }
      }
    }
    return new Recovery(
        MS * usualGap, MS * longest, full, curve.rate(start, event) / MEGA, steady / MEGA);
  }
}
