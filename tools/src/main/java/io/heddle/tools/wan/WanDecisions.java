package io.heddle.tools.wan;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Decisions of the controllers, read from their audit log. */
final class WanDecisions {
  /**
   * Change of the segment list that carries a flow.
   *
   * @param flow gateway and queue pair of the flow, as JSON
   * @param move whether the controller moved the flow; otherwise it withdrew the flow's rule
   */
  record Change(Instant time, String flow, boolean move) {}

  private final List<Change> all = new ArrayList<>();

  /**
   * Reads an audit log.
   *
   * @param file one JSON document per line; a missing file means no decisions
   */
  WanDecisions(Path file) throws IOException {
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (NoSuchFileException nothing) {
      lines = List.of();
    }
    for (String line : lines) {
      JsonNode round = Json.mapper().readTree(line);
      Instant time = Instant.parse(round.path("time").asText());
      for (JsonNode choice : round.path("choices")) {
        JsonNode flow = choice.path("decision").path("flow");
        all.add(new Change(time, flow.toString(), choice.path("action").asText().equals("move")));
      }
    }
  }

  int moves() {
    return (int) all.stream().filter(Change::move).count();
  }

  int withdrawals() {
    return all.size() - moves();
  }

  /**
   * Returns the flows that flapped in a period, that is, the flows whose list changed more than
   * once.
   */
  Set<String> flaps(Instant from, Instant to) {
    Map<String, Integer> changes = new HashMap<>();
    for (Change each : all) {
      if (each.time().isAfter(from) && each.time().isBefore(to)) {
        changes.merge(each.flow(), 1, Integer::sum);
      }
    }
    Set<String> flaps = new HashSet<>();
    changes.forEach((flow, count) -> {
      if (count > 1) {
        flaps.add(flow);
      }
    });
    return flaps;
  }
}
