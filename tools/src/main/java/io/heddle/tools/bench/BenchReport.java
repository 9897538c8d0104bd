package io.heddle.tools.bench;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Report of all measurements, with a verdict for each target. Each measurement has its own machine
 * and commit, since each can be repeated alone.
 */
record BenchReport(List<Outcome> measurements, List<Target.Verdict> targets) {
  static final String FILE = "bench.json";

  static BenchReport of(List<Outcome> outcomes) {
    Map<String, Outcome> byName = new LinkedHashMap<>();
    outcomes.forEach(each -> byName.put(each.measurement(), each));
    return new BenchReport(List.copyOf(outcomes), Targets.verdicts(byName));
  }

  /** Part of a recorded report that later runs read. Verdicts aren't read. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  private record Recorded(List<Outcome> measurements) {}

  /** Returns the outcomes recorded in a folder; empty if there is no record. */
  static List<Outcome> recorded(Path folder) {
    Path file = folder.resolve(FILE);
    if (!Files.exists(file)) {
      return List.of();
    }
    try {
      /* Verdicts are computed again from the recorded figures. */
      return Json.mapper().readValue(file.toFile(), Recorded.class).measurements();
    } catch (JsonProcessingException malformed) {
      throw new HeddleException(
          file + " is not a record of heddle bench: " + malformed.getOriginalMessage(), malformed);
    } catch (IOException unreadable) {
      throw new HeddleException("can't read " + file + ": " + unreadable.getMessage(), unreadable);
    }
  }

  /**
   * Returns the recorded outcomes, in the order of {@code names}. A fresh outcome replaces the
   * recorded one of the same measurement. If the fresh outcome failed, the recorded figures are
   * kept.
   */
  static List<Outcome> merged(List<Outcome> before, List<Outcome> fresh, List<String> names) {
    List<Outcome> merged = new ArrayList<>();
    for (String name : names) {
      Outcome newest = named(fresh, name);
      Outcome older = named(before, name);
      Outcome chosen = newest == null ? older : newest;
      if (newest != null && newest.failure() != null && older != null && older.failure() == null) {
        chosen = older.keptAfter(newest);
      }
      if (chosen != null) {
        merged.add(chosen);
      }
    }
    return merged;
  }

  private static @Nullable Outcome named(List<Outcome> outcomes, String name) {
    return outcomes.stream()
        .filter(each -> each.measurement().equals(name))
        .findFirst()
        .orElse(null);
  }
}
