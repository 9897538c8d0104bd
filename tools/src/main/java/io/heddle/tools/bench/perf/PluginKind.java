package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;

/** Kind of measurement of {@code heddle perf plugin}. A round measures the kinds in this order. */
enum PluginKind {
  BANDWIDTH("Gbit/s"),
  DUPLEX("Gbit/s"),
  LATENCY("us");

  private static final double BITS_PER_GIGABIT_BYTE = 8e-9;
  private final String unit;

  PluginKind(String unit) {
    this.unit = unit;
  }

  String unit() {
    return unit;
  }

  /** Returns the name in the driver's option {@code --kinds} and in figures. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the kind of a driver's event. */
  static PluginKind of(JsonNode event) {
    return event.path("event").asText().equals("latency")
        ? LATENCY
        : event.path("direction").asText().equals("duplex") ? DUPLEX : BANDWIDTH;
  }

  /**
   * Returns a rank's part of the figure, whose sum over both ranks is the figure in {@link #unit}:
   * received payload, or the median half round trip. A rank that measures nothing in this kind has
   * 0, and NaN if too little arrived.
   */
  double valueOf(JsonNode event) {
    return this == LATENCY
        ? event.path("half_us_median").asDouble(0)
        : event.path("received_bytes_per_second").asDouble(Double.NaN) * BITS_PER_GIGABIT_BYTE;
  }
}
