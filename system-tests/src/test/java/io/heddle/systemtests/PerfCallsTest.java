package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
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
    /* Seven targets for each of two JVMs. The last target of each is about allocation. */
    assertEquals(14, report.get("verdicts").size(), report.get("verdicts").toString());
  }
}
