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
    assertEquals(ROUTES, report.path("routes_per_peer").asInt());
    List<String> feeds = new ArrayList<>();
    for (JsonNode run : report.path("runs")) {
      feeds.add(run.path("receiver").asText() + " " + run.path("feed").asText());
      assertTrue(run.path("seconds").asDouble() > 0, run.toString());
    }
    assertEquals(
        List.of("heddle packed", "bird packed", "heddle unpacked", "bird unpacked"), feeds);
  }
}
