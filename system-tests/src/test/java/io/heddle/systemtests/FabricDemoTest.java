package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of {@code heddle demo --fabric}: the all-reduce over a fabric of real routers with unequal
 * spines.
 */
@EndsWithin(180)
final class FabricDemoTest {
  @TempDir private Path folder;

  private static void assumeFabric() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unlessFabric(false);
  }

  @Test
  void sharesFollowPathBandwidthsAndBeatHashing() throws Exception {
    assumeFabric();
    try (DemoProcess demo =
        DemoProcess.start(
            folder,
            "--fabric",
            "--json",
            "--rates",
            "0.3,0.1",
            "--changed-rate",
            "0.1",
            "--max-bytes",
            "4M",
            "--iterations",
            "2")) {
      assertEquals(0, demo.exitCode(), demo.output());
      JsonNode report = demo.json();
      assertTrue(report.path("passed").asBoolean(), demo.output());
      assertEquals(0, report.path("wrong").asLong(-1));
      JsonNode spray = report.path("jobs").path(0);
      assertEquals("spray", spray.path("policy").asText());
      assertEquals(0.75, spray.path("spines").path(0).path("sent_share").asDouble(), 0.03);
      assertEquals(0.75, spray.path("spines").path(0).path("spine_share").asDouble(), 0.05);
      JsonNode change = report.path("change");
      assertTrue(change.path("followed_after_ms").isNumber(), demo.output());
      JsonNode last = change.path("windows").path(change.path("windows").size() - 1);
      assertEquals(0.5, last.path("expected_shares").path(0).asDouble());
      assertTrue(report.path("hash_over_spray").isNumber(), demo.output());
    }
  }

  @Test
  @SystemTest
  void rejectsOptionsThatBgpDecides() throws Exception {
    try (DemoProcess demo = DemoProcess.start(folder, "--fabric", "--weights", "1,1,1,1")) {
      assertEquals(2, demo.exitCode(), demo.output());
      assertTrue(
          demo.output().contains("--weights can't be combined with --fabric"), demo.output());
    }
  }
}
