package io.heddle.cli.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;

/** A line that {@code heddle-plugin-perf} prints. */
sealed interface PluginPerfEvent {
  /**
   * The plugin is loaded and initialised.
   *
   * @param startMs how long that took
   * @param residentMebibytes by how much the process's resident memory grew
   */
  record Started(String net, double startMs, double residentMebibytes) implements PluginPerfEvent {}

  /** It has done what it does before it measures. */
  record Warm() implements PluginPerfEvent {}

  /**
   * One measurement.
   *
   * @param value what this rank found: bytes a second that it received, or the median of half round
   *     trips in microseconds; 0 where this rank has no part in the answer; not a number where what
   *     arrived says nothing
   * @param messageP99Us time of a message that this rank sent in a stream, which 99 in 100 don't
   *     exceed; 0 where it sent none
   */
  record Measured(PluginPerfKind kind, long bytes, double value, double messageP99Us)
      implements PluginPerfEvent {}

  /** All measurements are done. */
  record Ended() implements PluginPerfEvent {}

  /** Anything else. */
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
