package io.heddle.tools.bench;

import io.heddle.tools.bench.perf.Quantiles;
import java.util.List;

/**
 * Quantity that was measured several times.
 *
 * @param name name that is unique within the figure's measurement, such as {@code bandwidth 1M, 1
 *     plane}
 * @param unit unit of the values, such as {@code Gbit/s}; empty for a ratio
 * @param median median of the values
 * @param least minimum of the values
 * @param most maximum of the values
 */
record Figure(String name, String unit, double median, double least, double most) {
  static Figure of(String name, String unit, List<Double> values) {
    Quantiles all = Quantiles.of(values);
    return new Figure(name, unit, all.median(), all.least(), all.most());
  }

  /**
   * Returns a figure whose median, minimum and maximum are one value: a single measurement, or a
   * summary.
   */
  static Figure of(String name, String unit, double value) {
    return new Figure(name, unit, value, value, value);
  }
}
