package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;

/** Line printed by {@code heddle-plugin-perf}. */
sealed interface PluginPerfEvent {
  /**
   * Event: the plugin is loaded and initialised.
   *
   * @param startMs duration of the start
   * @param residentMebibytes growth of the process's resident memory
   */
  record Started(String net, double startMs, double residentMebibytes) implements PluginPerfEvent {}

  /** Event: the warm-up is over. */
  record Warm() implements PluginPerfEvent {}

  /**
   * Event: one measurement is done.
   *
   * @param value figure of this rank: received bytes per second, or the median half round trip in
   *     µs; 0 if this rank has no part in it; NaN if too little arrived for a figure
   * @param messageP99Us 99th percentile of the time of messages sent in a stream, µs; 0 if it sent
   *     none
   */
  record Measured(PluginPerfKind kind, long bytes, double value, double messageP99Us)
      implements PluginPerfEvent {}

  /** Event: all measurements are done. */
  record Ended() implements PluginPerfEvent {}

  /** Any other line. */
  record Unknown(String line) implements PluginPerfEvent {}

  static PluginPerfEvent parse(String line) {
    JsonNode node;
    try {
      node = Json.mapper().readTree(line);
    } catch (JsonProcessingException notJson) {
      return new Unknown(line);
    }
    return switch (node.path("event").asText()) {
      case "start" ->
          new Started(
              node.path("net").asText("?"),
              node.path("start_ms").asDouble(),
              node.path("resident_mib").asDouble());
      case "warm" -> new Warm();
      case "bandwidth" ->
          new Measured(
              node.path("direction").asText().equals("duplex")
                  ? PluginPerfKind.DUPLEX
                  : PluginPerfKind.BANDWIDTH,
              node.path("bytes").asLong(),
              node.path("received_bytes_per_second").asDouble(Double.NaN),
              node.path("message_us_p99").asDouble(0));
      case "latency" ->
          new Measured(
              PluginPerfKind.LATENCY,
              node.path("bytes").asLong(),
              node.path("half_us_median").asDouble(0),
              0);
      case "end" -> new Ended();
      default -> new Unknown(line);
    };
  }
}
