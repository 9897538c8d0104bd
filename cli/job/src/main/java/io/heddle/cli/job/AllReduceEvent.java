package io.heddle.cli.job;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import org.jspecify.annotations.Nullable;

/** A line that a rank of the C driver prints. */
public sealed interface AllReduceEvent {
  /** The plugin is loaded. */
  record Started(String net, int abiVersion) implements AllReduceEvent {}

  /** Iterations of a size go on; told several times in what would count as a hang. */
  record UnderWay(int iteration) implements AllReduceEvent {}

  /**
   * One size is done.
   *
   * @param timeUs mean time of an iteration, microseconds
   * @param wrong elements that differ from what they must be, over all iterations checked
   */
  record Size(long bytes, long count, int iterations, double timeUs, long wrong)
      implements AllReduceEvent {}

  /** All sizes are done. */
  record Ended(long wrong) implements AllReduceEvent {}

  /** Anything else; shown when the rank fails. */
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
              ? new UnderWay(node.path("iteration").asInt())
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

  /* A missing number must not read as "0 wrong". */
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
