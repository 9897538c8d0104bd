package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Test that {@code heddle perf verbs} measures and reports. It doesn't check the figures. */
@EndsWithin(300)
@SystemTest
final class VerbsCostTest {
  @Test
  void cAndBothCompilersOfJavaAreMeasured() throws IOException, InterruptedException {
    BuildOutputs.standin();
    JsonNode report = HeddleRun.json("perf", "verbs", "--json", "--rounds", "1");
    JsonNode contestants = report.path("contestants");
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
