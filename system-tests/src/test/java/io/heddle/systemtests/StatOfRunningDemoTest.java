package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test that the commands that inspect jobs find the jobs of a running demo without options. The
 * demo and the commands have shared memory of their own, so that the commands find no other job.
 */
@EndsWithin(300)
@SystemTest
final class StatOfRunningDemoTest {
  private static final long LIMIT_SECONDS = 90;
  private static final Set<String> PLANES = Set.of("if:e1", "if:e2", "if:e3");

  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    MountNamespace.orSkip();
  }

  private HostProcess heddle(BusyDemo demo, String... words) throws IOException {
    List<String> command = new ArrayList<>(MountNamespace.of(demo.process().pid()));
    command.addAll(HeddleRun.command(words));
    return HostProcess.start(command, folder.resolve(words[0] + ".log"), Map.of());
  }

  private String output(BusyDemo demo, Set<Integer> expected, String... words) throws Exception {
    try (HostProcess process = heddle(demo, words)) {
      int code = process.exitCode(LIMIT_SECONDS);
      assertTrue(expected.contains(code), () -> "exit code " + code + process.outputOrWhyNot());
      return process.output();
    }
  }

  private JsonNode json(BusyDemo demo, Set<Integer> expected, String... words) throws Exception {
    String said = output(demo, expected, words);
    return new ObjectMapper().readTree(said.substring(said.indexOf('{')));
  }

  @Test
  void everyJobCommandSeesDemo() throws Exception {
    try (BusyDemo demo = BusyDemo.startAlone(folder)) {
      JsonNode processes = json(demo, Set.of(0), "stat", "--json").path("processes");
      assertEquals(2, processes.size(), processes.toPrettyString());
      for (JsonNode process : processes) {
        assertTrue(process.path("alive").asBoolean(), process.toPrettyString());
        Set<String> planes = new TreeSet<>();
        process.path("flows").forEach(flow -> planes.add(flow.path("plane").asText()));
        assertEquals(PLANES, planes, process.toPrettyString());
      }
      /*
       * heddle errors exits with 1 if a rank has logged a warning, for example about a slow
       * machine.
       */
      JsonNode errors = json(demo, Set.of(0, 1), "errors", "--json");
      assertEquals(2, errors.path("process_count").asInt(), errors.toPrettyString());
      for (JsonNode finding : json(demo, Set.of(0, 1, 2), "doctor", "--json").path("findings")) {
        if (finding.path("check").asText().equals("jobs")) {
          assertNotEquals("no process runs with the plugin", finding.path("evidence").asText());
        }
      }
      String drained = output(demo, Set.of(0), "drain", "if:e2");
      assertTrue(drained.contains("plane if:e2: drained; "), drained);
      String taken = output(demo, Set.of(0), "drain", "if:e2", "--end");
      assertTrue(taken.contains("plane if:e2: in use; "), taken);
      try (HostProcess exporter = heddle(demo, "exporter", "--listen", "[::1]:0")) {
        exporter.awaitOutput("/metrics", LIMIT_SECONDS);
        String metrics = metrics(exporter.output());
        for (String plane : PLANES) {
          assertTrue(metrics.contains("plane=\"" + plane + "\""), metrics);
        }
      }
      demo.process().terminate();
    }
  }

  private static String metrics(String said) throws IOException, InterruptedException {
    Matcher address = Pattern.compile("serving (http://\\S+)").matcher(said);
    assertTrue(address.find(), said);
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create(address.group(1))).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }
}
