package io.heddle.tools.job;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import org.jspecify.annotations.Nullable;

/** Event that a rank of the C driver prints as a line. */
public sealed interface AllReduceEvent {
  /** Event of a rank that has loaded the plugin. */
  record Started(String net, int abiVersion) implements AllReduceEvent {}

  /**
   * Event of a rank whose iterations of a size continue. A rank reports it several times per hang
   * timeout.
   */
  record Progress(int iteration) implements AllReduceEvent {}

  /**
   * Event of a rank that has finished one size.
   *
   * @param timeUs mean time of an iteration, µs
   * @param wrong number of wrong elements over all checked iterations
   */
  record Size(long bytes, long count, int iterations, double timeUs, long wrong)
      implements AllReduceEvent {}

  /**
   * Event of a rank that has finished all sizes.
   *
   * @param wrong number of wrong elements over all sizes
   */
  record Ended(long wrong) implements AllReduceEvent {}

  /** Any other line, with which the run fails. */
  record Unknown(String line) implements AllReduceEvent {}

  static AllReduceEvent parse(String line) {
    JsonNode node = read(line);
    if (node == null) {
      return new Unknown(line);
    }
    return switch (node.path("event").asText()) {
      case "start" -> new Started(node.path("net").asText("?"), node.path("abi").asInt());
      case "under-way" ->
          numbers(node, "iteration")
              ? new Progress(node.path("iteration").asInt())
              : new Unknown(line);
      case "size" ->
          numbers(node, "bytes", "count", "iterations", "time_us", "wrong")
              ? new Size(
                  node.path("bytes").asLong(),
                  node.path("count").asLong(),
                  node.path("iterations").asInt(),
                  node.path("time_us").asDouble(),
                  node.path("wrong").asLong())
              : new Unknown(line);
      case "end" ->
          numbers(node, "wrong") ? new Ended(node.path("wrong").asLong()) : new Unknown(line);
      default -> new Unknown(line);
    };
  }

  /*
   * Returns whether a document has these numbers. A missing number must not be read as "0 wrong".
   */
  private static boolean numbers(JsonNode node, String... names) {
    for (String name : names) {
      if (!node.path(name).isNumber()) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable JsonNode read(String line) {
    try {
      JsonNode node = Json.mapper().readTree(line);
      return node != null && node.isObject() ? node : null;
    } catch (JsonProcessingException notJson) {
      return null;
    }
  }
}
