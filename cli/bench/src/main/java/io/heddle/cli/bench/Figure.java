package io.heddle.cli.bench;

import io.heddle.cli.bench.perf.Quantiles;
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
    Quantiles all = Quantiles.of(values);
    return new Figure(name, unit, all.median(), all.least(), all.most());
  }

  /** A number that was measured once, or that is a summary already. */
  static Figure of(String name, String unit, double value) {
    return new Figure(name, unit, value, value, value);
  }
}
