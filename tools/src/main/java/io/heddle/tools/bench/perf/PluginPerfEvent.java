package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;

/** Event that a rank of {@code heddle-plugin-perf} prints as a line. */
sealed interface PluginPerfEvent {
  /**
   * Event of a rank that has loaded and initialised the plugin.
   *
   * @param startMs duration of the start, ms
   * @param residentMebibytes growth of the process's resident memory by the start, MiB
   */
  record Started(String net, double startMs, double residentMebibytes) implements PluginPerfEvent {}

  /** Event of a rank whose warm-up is over. */
  record Warm() implements PluginPerfEvent {}

  /**
   * Event of a rank that has finished one measurement.
   *
   * @param value measured value of this rank: received bytes per second, or the median half round
   *     trip in µs; 0 if this rank measures nothing in this kind; NaN if too little arrived
   * @param messageP99Us 99th percentile of the times of messages that this rank sent in a stream,
   *     µs; 0 if it sent none
   */
  record Measured(PluginPerfKind kind, long bytes, double value, double messageP99Us)
      implements PluginPerfEvent {}

  /** Event of a rank that has finished all measurements. */
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
