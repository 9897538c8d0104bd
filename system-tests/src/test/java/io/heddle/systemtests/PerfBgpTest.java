package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Test that {@code heddle perf bgp} measures and reports. It doesn't check the figures. */
@EndsWithin(300)
@SystemTest
final class PerfBgpTest {
  private static final int ROUTES = 500;

  @Test
  void feedsHeddleAndBirdAndReportsEachFeed() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    String routes = Integer.toString(ROUTES);
    JsonNode report =
        HeddleRun.json(
            "perf", "bgp", "--json", "--rounds", "1", "--sender", "prebuilt", "--routes", routes);
    assertEquals(routes, report.path("settings").path("routes_per_peer").asText());
    List<String> feeds = new ArrayList<>();
    for (JsonNode series : report.path("series")) {
      if (series.path("quantity").asText().isEmpty()) {
        feeds.add(series.path("contestant").asText() + " " + series.path("step").asText());
        assertTrue(series.path("rounds").path(0).asDouble() > 0, series.toString());
      }
    }
    assertEquals(
        List.of(
            "heddle prebuilt packed",
            "bird prebuilt packed",
            "heddle prebuilt unpacked",
            "bird prebuilt unpacked"),
        feeds);
  }
}
