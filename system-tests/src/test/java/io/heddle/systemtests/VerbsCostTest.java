package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Test that {@code heddle perf verbs} measures and reports. It doesn't check the figures. */
@EndsWithin(300)
@SystemTest
final class VerbsCostTest {
  @Test
  void cAndBothCompilersOfJavaAreMeasured() throws IOException, InterruptedException {
    BuildOutputs.standin();
    JsonNode report = HeddleRun.json("perf", "verbs", "--json", "--rounds", "1");
    Map<String, Integer> cases = new TreeMap<>();
    Map<String, Integer> ratios = new TreeMap<>();
    for (JsonNode each : report.path("series")) {
      String quantity = each.path("quantity").asText();
      if (quantity.isEmpty() || quantity.equals(" ÷ C")) {
        (quantity.isEmpty() ? cases : ratios)
            .merge(each.path("contestant").asText(), 1, Integer::sum);
        assertTrue(each.path("rounds").path(0).asDouble() > 0, each.toString());
      }
    }
    assertEquals(Map.of("C", 5, "Java", 5, "Java, first compiler", 5), cases);
    assertEquals(Map.of("Java", 5, "Java, first compiler", 5), ratios);
  }
}
