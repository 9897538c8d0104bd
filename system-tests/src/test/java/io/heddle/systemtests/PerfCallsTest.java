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

/** {@code heddle perf calls}: that it measures; how fast is no business of a test. */
@Timeout(180)
final class PerfCallsTest {
  @TempDir private Path folder;

  @Test
  void cAndBothCompilersOfJavaAreMeasured() throws IOException, InterruptedException {
    DemoProcess.assume(Lab.Kind.NAMESPACES);
    BuiltParts.standin();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp"));
    command.addAll(List.of(System.getProperty("java.class.path"), HeddleCommand.class.getName()));
    command.addAll(List.of("perf", "calls", "--rounds", "1", "--seconds", "1", "--json"));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(folder.resolve("err").toFile());
    builder.environment().put("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + folder);
    Process process = builder.start();
    JsonNode report = new ObjectMapper().readTree(process.getInputStream());
    assertEquals(0, process.waitFor());
    JsonNode contestants = report.get("contestants");
    assertEquals(3, contestants.size());
    for (JsonNode each : contestants) {
      assertEquals(8, each.get("cases").size(), each.toString());
      each.get("cases").forEach(one -> assertTrue(one.get("median_ns").asDouble() > 0));
      assertTrue(each.get("soak").get("messages").asLong() > 1_000, each.toString());
      for (JsonNode tail : each.get("soak").get("tails")) {
        assertTrue(tail.get("calls").asLong() > 1_000, tail.toString());
        assertTrue(tail.get("median_us").asDouble() <= tail.get("most_us").asDouble());
      }
    }
    /* Two of Java, seven targets each; the last says what was allocated. */
    assertEquals(14, report.get("verdicts").size(), report.get("verdicts").toString());
  }
}
