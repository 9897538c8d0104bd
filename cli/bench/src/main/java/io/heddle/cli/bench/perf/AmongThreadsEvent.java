package io.heddle.cli.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.util.ArrayList;
import java.util.List;

/** A line that {@code heddle-among-threads} prints. */
sealed interface AmongThreadsEvent {
  /**
   * It is connected and warm.
   *
   * @param net name that the plugin gave itself
   */
  record Ready(String net) implements AmongThreadsEvent {}

  /**
   * It has done what it was ordered.
   *
   * @param bytes of each all-reduce
   * @param wrong elements
   * @param timesUs of each all-reduce
   * @param threads that ran meanwhile, over the whole turn; empty unless it was asked
   */
  record Turn(long bytes, long wrong, List<Double> timesUs, List<ThreadAccount> threads)
      implements AmongThreadsEvent {}

  /**
   * It has closed everything.
   *
   * @param wrong elements in all
   */
  record Ended(long wrong) implements AmongThreadsEvent {}

  /** Anything else. */
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
                    each.path("sleeps").asDouble(),
                    each.path("losses").asDouble())));
    return threads;
  }
}
