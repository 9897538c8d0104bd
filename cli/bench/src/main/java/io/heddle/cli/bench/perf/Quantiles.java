package io.heddle.cli.bench.perf;

import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;

/** Numbers that were measured, in order: their median, quartiles and ends. */
public final class Quantiles {
  private final double[] sorted;

  private Quantiles(DoubleStream values) {
    sorted = values.sorted().toArray();
  }

  /** Of all. Those that are no number are the greatest. */
  public static Quantiles of(List<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue));
  }

  static Quantiles of(DoubleStream values) {
    return new Quantiles(values);
  }

  /** Of those that are finite: a round that says nothing is left to the others. */
  static Quantiles ofFinite(List<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue).filter(Double::isFinite));
  }

  /** The one in the middle, or halfway between the two there. */
  public double median() {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
  }

  double lowerQuartile() {
    return between(0.25);
  }

  double upperQuartile() {
    return between(0.75);
  }

  /* Between two values, in proportion. */
  private double between(double share) {
    if (sorted.length == 0) {
      return Double.NaN;
    }
    double place = share * (sorted.length - 1);
    int below = (int) place;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  /**
   * The value that was measured, and not one between two, nearest to a share of the way from the
   * least to the most; the greater of two that are as near.
   */
  double nearest(double share) {
    return sorted.length == 0 ? Double.NaN : sorted[(int) Math.round(share * (sorted.length - 1))];
  }

  /** Not a number where one of them isn't. */
  public double least() {
    return Arrays.stream(sorted).min().orElse(Double.NaN);
  }

  /** Not a number where one of them isn't. */
  public double most() {
    return Arrays.stream(sorted).max().orElse(Double.NaN);
  }
}
