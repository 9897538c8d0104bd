package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.tools.HeddleCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Posting and polling from Java beside the same from C, on the stand-in, in turns. */
@Timeout(300)
final class VerbsCostTest {
  /**
   * Times C in the fastest rounds, by either compiler as the plugin sets them. The aims are 1.5 for
   * posting and 2 for polling what is there; beyond these limits it isn't the machine's noise, but
   * an allocation, a lock or a slow path.
   */
  private static final Map<String, Double> LIMITS =
      Map.of("single_post", 2.0, "list_post", 2.0, "full_poll", 2.5, "post_and_poll", 2.0);

  @TempDir private Path folder;

  @Test
  void postingAndPollingFromJavaIsNearC() throws IOException, InterruptedException {
    BuiltParts.standin();
    List<String> command = new ArrayList<>(HeddleCommand.asStarted());
    command.addAll(List.of("perf", "verbs", "--json", "--rounds", "7"));
    Path report = folder.resolve("report.json");
    Process measuring =
        new ProcessBuilder(command)
            .redirectOutput(report.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      assertEquals(0, measuring.waitFor());
    } finally {
      measuring.destroy();
    }
    JsonNode contestants = new ObjectMapper().readTree(report.toFile()).path("contestants");
    assertEquals(3, contestants.size());
    for (int i = 1; i < contestants.size(); i++) {
      for (JsonNode each : contestants.get(i).path("cases")) {
        double most = LIMITS.getOrDefault(each.path("name").asText(), Double.MAX_VALUE);
        assertTrue(each.path("least_times_c").asDouble() < most, contestants.toPrettyString());
      }
    }
  }
}
