package io.heddle.tools.bench.perf;

import java.util.Locale;

/** Kind of measurement of {@code heddle perf plugin}. A round measures the kinds in this order. */
enum PluginPerfKind {
  BANDWIDTH("bandwidth in one direction", "Gbit/s"),
  DUPLEX("bandwidth in both directions, sum", "Gbit/s"),
  LATENCY("half round trip", "us");

  private static final double BITS_PER_GIGABIT_BYTE = 8e-9;

  private final String title;
  private final String unit;

  PluginPerfKind(String title, String unit) {
    this.title = title;
    this.unit = unit;
  }

  String title() {
    return title;
  }

  String unit() {
    return unit;
  }

  /** Returns the name in the driver's option {@code --kinds}. */
  String option() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Combines the values of the two ranks into one figure in {@link #unit}. A rank that doesn't
   * measure has the value 0.
   */
  double combine(double firstRank, double secondRank) {
    return switch (this) {
      case BANDWIDTH, DUPLEX -> (firstRank + secondRank) * BITS_PER_GIGABIT_BYTE;
      case LATENCY -> firstRank + secondRank;
    };
  }

  /**
   * Returns the ratio of a figure to the rival's, inverted for latencies, so that more than 1 is
   * better.
   */
  double timesRival(double figure, double rival) {
    return switch (this) {
      case BANDWIDTH, DUPLEX -> figure / rival;
      case LATENCY -> rival / figure;
    };
  }
}
