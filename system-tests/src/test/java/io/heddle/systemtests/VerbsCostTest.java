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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code heddle perf verbs}: that it measures; how fast is no business of a test. */
@Timeout(300)
final class VerbsCostTest {
  @TempDir private Path folder;

  @Test
  void cAndBothCompilersOfJavaAreMeasured() throws IOException, InterruptedException {
    BuiltParts.standin();
    List<String> command = new ArrayList<>(HeddleCommand.asStarted());
    command.addAll(List.of("perf", "verbs", "--json", "--rounds", "1"));
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
    for (JsonNode contestant : contestants) {
      assertEquals(5, contestant.path("cases").size(), contestant.toString());
      for (JsonNode each : contestant.path("cases")) {
        assertTrue(each.path("median_ns").asDouble() > 0, contestant.toString());
        assertTrue(each.path("least_times_c").asDouble() > 0, contestant.toString());
      }
    }
  }
}
