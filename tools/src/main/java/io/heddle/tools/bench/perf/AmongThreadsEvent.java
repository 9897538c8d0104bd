package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.util.ArrayList;
import java.util.List;

/** Event that a rank of {@code heddle-among-threads} prints as a line. */
sealed interface AmongThreadsEvent {
  /**
   * Event of a rank that is connected and warm.
   *
   * @param net name reported by the plugin
   */
  record Ready(String net) implements AmongThreadsEvent {}

  /**
   * Event of a rank that has finished the all-reduces of one size.
   *
   * @param bytes size of each all-reduce
   * @param wrong number of wrong elements in all these all-reduces
   * @param timesUs time of each all-reduce, µs
   * @param threads accounts of the rank's threads over these all-reduces; empty unless the plan
   *     enables accounts
   */
  record Turn(long bytes, long wrong, List<Double> timesUs, List<ThreadAccount> threads)
      implements AmongThreadsEvent {}

  /**
   * Event of a rank that has closed its communicators.
   *
   * @param wrong number of wrong elements in all all-reduces
   */
  record Ended(long wrong) implements AmongThreadsEvent {}

  /** Any other line. */
  record Unknown(String line) implements AmongThreadsEvent {}

  static AmongThreadsEvent parse(String line) {
    JsonNode node;
    try {
      node = Json.mapper().readTree(line);
    } catch (JsonProcessingException notJson) {
      return new Unknown(line);
    }
    return switch (node.path("event").asText()) {
      case "ready" -> new Ready(node.path("net").asText("?"));
      case "turns" -> {
        List<Double> times = new ArrayList<>();
        node.path("times_us").forEach(each -> times.add(each.asDouble()));
        yield times.isEmpty() || !node.has("wrong")
            ? new Unknown(line)
            : new Turn(
                node.path("bytes").asLong(), node.path("wrong").asLong(), times, threads(node));
      }
      case "end" -> node.has("wrong") ? new Ended(node.path("wrong").asLong()) : new Unknown(line);
      default -> new Unknown(line);
    };
  }

  private static List<ThreadAccount> threads(JsonNode turn) {
    List<ThreadAccount> threads = new ArrayList<>();
    turn.path("threads")
        .forEach(each ->
            threads.add(
                new ThreadAccount(
                    each.path("name").asText(),
                    each.path("ran_us").asDouble(),
                    each.path("waited_us").asDouble(),
                    each.path("voluntary_switches").asDouble(),
                    each.path("involuntary_switches").asDouble())));
    return threads;
  }
}
