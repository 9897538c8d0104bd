package io.heddle.cli.bench;

import java.util.Arrays;
import java.util.List;

/**
 * A number that was measured several times.
 *
 * @param name unique within its measurement, such as {@code bandwidth 1M, 1 plane}
 * @param unit such as {@code x TCP}
 * @param median of all, in that unit
 * @param least of all
 * @param most of all
 */
record Figure(String name, String unit, double median, double least, double most) {
  static Figure of(String name, String unit, List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    double median =
        sorted.length == 0
            ? Double.NaN
            : sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Figure(
        name,
        unit,
        median,
        Arrays.stream(sorted).min().orElse(Double.NaN),
        Arrays.stream(sorted).max().orElse(Double.NaN));
  }

  /** A number that was measured once, or that is a summary already. */
  static Figure of(String name, String unit, double value) {
    return new Figure(name, unit, value, value, value);
  }
}
