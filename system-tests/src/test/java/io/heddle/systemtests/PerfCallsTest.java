package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Test that {@code heddle perf calls} measures and reports. It doesn't check the figures. */
@EndsWithin(180)
@SystemTest
final class PerfCallsTest {
  @Test
  void cAndBothCompilersOfJavaAreMeasured() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    BuildOutputs.standin();
    JsonNode report = HeddleRun.json("perf", "calls", "--rounds", "1", "--seconds", "1", "--json");
    Map<String, Integer> cases = new TreeMap<>();
    for (JsonNode each : report.get("series")) {
      double value = each.get("rounds").get(0).asDouble();
      switch (each.get("quantity").asText()) {
        case "" -> {
          cases.merge(each.get("contestant").asText(), 1, Integer::sum);
          assertTrue(value > 0, each.toString());
        }
        case ", count" ->
            assertTrue(
                value > 1_000 || each.get("step").asText().equals("pauses"), each.toString());
        case ", p50" -> assertTrue(value > 0, each.toString());
        default -> {}
      }
    }
    assertEquals(Map.of("C", 8, "Java", 8, "Java, first compiler", 8), cases);
    /* Seven bounds for each of two JVMs. The last bound of each is about allocation. */
    List<JsonNode> bounds = report.get("figures").findValues("bound");
    assertEquals(14, bounds.stream().filter(JsonNode::isObject).count(), bounds.toString());
  }
}
