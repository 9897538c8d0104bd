package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.tools.HeddleCommand;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code heddle perf bgp}: that it measures and reports; how fast is no business of a test. */
@Timeout(300)
final class FeedMeasurementTest {
  private static final int ROUTES = 500;

  @TempDir private Path folder;

  @Test
  void oursAndBirdAreFedAndEachFeedIsReported() throws IOException, InterruptedException {
    DemoProcess.assume(Lab.Kind.NAMESPACES);
    Path report = folder.resolve("report.json");
    List<String> command = new ArrayList<>(HeddleCommand.asStarted());
    command.addAll(List.of("perf", "bgp", "--json", "--rounds", "1", "--sender", "prebuilt"));
    command.addAll(List.of("--routes", Integer.toString(ROUTES)));
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
    JsonNode told = new ObjectMapper().readTree(report.toFile());
    assertEquals(ROUTES, told.path("routes_per_peer").asInt());
    List<String> feeds = new ArrayList<>();
    for (JsonNode run : told.path("runs")) {
      feeds.add(run.path("receiver").asText() + " " + run.path("feed").asText());
      assertTrue(run.path("seconds").asDouble() > 0, run.toString());
    }
    assertEquals(
        List.of("heddle packed", "bird packed", "heddle unpacked", "bird unpacked"), feeds);
  }
}
