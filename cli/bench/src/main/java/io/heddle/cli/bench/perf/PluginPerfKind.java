package io.heddle.cli.bench.perf;

import java.util.Locale;

/** What {@code heddle perf plugin} measures, in the order in which a round does. */
enum PluginPerfKind {
  BANDWIDTH("bandwidth one way", "Gbit/s"),
  DUPLEX("bandwidth both ways, their sum", "Gbit/s"),
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

  /** The name that the driver's {@code --kinds} takes. */
  String option() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What both ranks said, as one figure in {@link #unit}. */
  double figure(double first, double second) {
    return switch (this) {
      case BANDWIDTH, DUPLEX -> (first + second) * BITS_PER_GIGABIT_BYTE;
      case LATENCY -> first + second;
    };
  }

  /** How many times as good as the rival's this figure is. */
  double timesRival(double figure, double rival) {
    return switch (this) {
      case BANDWIDTH, DUPLEX -> figure / rival;
      case LATENCY -> rival / figure;
    };
  }
}
