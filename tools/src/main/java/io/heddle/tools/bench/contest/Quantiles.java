package io.heddle.tools.bench.contest;

import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;

/** Quantiles of measured values: median, quartiles, minimum and maximum. */
public final class Quantiles {
  private final double[] sorted;

  private Quantiles(DoubleStream values) {
    sorted = values.sorted().toArray();
  }

  /** Returns the quantiles of all values. NaN counts as the greatest value. */
  public static Quantiles of(List<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue));
  }

  public static Quantiles of(DoubleStream values) {
    return new Quantiles(values);
  }

  /** Returns the quantiles of the finite values. */
  public static Quantiles ofFinite(List<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue).filter(Double::isFinite));
  }

  /** Returns the middle value, or the mean of the two middle values; NaN without values. */
  public double median() {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }

  /**
   * Returns the quartile at the better end, since other load on the machine makes rounds worse and
   * never better.
   */
  double bestQuarter(boolean lessIsBetter) {
    int place = (sorted.length - 1) / 4;
    return sorted.length == 0
        ? Double.NaN
        : sorted[lessIsBetter ? place : sorted.length - 1 - place];
  }

  /**
   * Returns the measured value that is nearest to a quantile in sorted order, without
   * interpolation. If two values are equally near, returns the greater one.
   */
  public double nearest(double share) {
    return sorted.length == 0 ? Double.NaN : sorted[(int) Math.round(share * (sorted.length - 1))];
  }

  /** Returns the minimum; NaN if a value is NaN or there is none. */
  public double least() {
    return Arrays.stream(sorted).min().orElse(Double.NaN);
  }

  /** Returns the maximum; NaN if a value is NaN or there is none. */
  public double most() {
    return Arrays.stream(sorted).max().orElse(Double.NaN);
  }
}
