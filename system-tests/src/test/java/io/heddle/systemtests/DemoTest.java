package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Test of {@code heddle demo} end to end: the all-reduce of real ranks through the real plugin,
 * with every element checked.
 */
@EndsWithin(180)
final class DemoTest {
  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
  }

  private JsonNode passing(Lab.Kind kind, String network, int sizes, String... options)
      throws IOException, InterruptedException {
    Skip.unless(kind);
    List<String> all =
        new ArrayList<>(List.of("--json", "--network", network, "--iterations", "3"));
    all.addAll(List.of(options));
    try (DemoProcess demo = DemoProcess.start(folder, all.toArray(String[]::new))) {
      assertEquals(0, demo.exitCode(), demo.output());
      JsonNode report = demo.json();
      assertTrue(report.path("passed").asBoolean(), demo.output());
      assertEquals(kind.text(), report.path("network").asText());
      assertEquals("Heddle", report.path("plugin").asText());
      assertEquals(sizes, report.path("results").size());
      assertEquals(0, report.path("wrong").asLong(-1));
      assertEquals(List.of(), demo.namespaces());
      return report;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"spray", "packet"})
  @WholeRunOnly(alwaysRunRows = 2)
  void fourPlanesInNamespacesCarryBytesByWeight(String policy)
      throws IOException, InterruptedException {
    JsonNode planes =
        passing(
                Lab.Kind.NAMESPACES,
                "namespaces",
                5,
                "--policy",
                policy,
                "--weights",
                "4,2,1,1",
                "--min-bytes",
                "1M",
                "--max-bytes",
                "16M")
            .path("planes");
    assertEquals(4, planes.size());
    for (JsonNode plane : planes) {
      double expected = plane.path("expected_share").asDouble(-1);
      double sent = plane.path("sent_share").asDouble(-1);
      double wire = plane.path("wire_share").asDouble(-1);
      assertTrue(
          Math.abs(sent - expected) < 0.05,
          "expected and sent differ by five points or more: " + plane);
      assertTrue(
          Math.abs(wire - expected) < 0.05,
          "expected and seen by the kernel differ by five points: " + plane);
    }
  }

  @Test
  @WholeRunOnly
  @SystemTest
  void everySizeFromEightBytesPasses() throws IOException, InterruptedException {
    passing(Lab.Kind.NAMESPACES, "namespaces", 18, "--max-bytes", "1M");
  }

  @Test
  @SystemTest
  void fourRanksWork() throws IOException, InterruptedException {
    passing(
        Lab.Kind.NAMESPACES,
        "namespaces",
        16,
        "--ranks",
        "4",
        "--planes",
        "2",
        "--max-bytes",
        "256K");
  }

  @Test
  @WholeRunOnly
  @SystemTest
  void onePlaneIsEnough() throws IOException, InterruptedException {
    JsonNode planes =
        passing(Lab.Kind.NAMESPACES, "namespaces", 16, "--planes", "1", "--max-bytes", "256K")
            .path("planes");
    assertEquals(1.0, planes.path(0).path("sent_share").asDouble(-1));
    assertEquals(1.0, planes.path(0).path("wire_share").asDouble(-1));
  }

  @Test
  @WholeRunOnly
  @SystemTest
  void jobRunsWithMtuOf1500() throws IOException, InterruptedException {
    passing(Lab.Kind.NAMESPACES, "namespaces", 16, "--mtu", "1500", "--max-bytes", "256K");
  }

  @Test
  @SystemTest
  void jobRunsInUserNamespace() throws IOException, InterruptedException {
    passing(Lab.Kind.USER_NAMESPACE, "user", 16, "--max-bytes", "256K");
  }

  @Test
  @SystemTest
  void loopbackAddressesWork() throws IOException, InterruptedException {
    JsonNode report = passing(Lab.Kind.LOOPBACK, "loopback", 16, "--max-bytes", "256K");
    assertFalse(report.path("network_reason").asText().isEmpty());
    assertEquals(4, report.path("planes").size());
    for (JsonNode plane : report.path("planes")) {
      assertTrue(plane.path("sent_bytes").asLong() > 0, "every plane carried something: " + plane);
      assertTrue(
          plane.path("wire_bytes").isNull(),
          "the kernel's counters can't separate planes on loopback: " + plane);
    }
  }

  @Test
  void planeIsCutAndReturnsDuringJob() throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    Path plot = folder.resolve("plot.svg");
    List<String> options =
        List.of("--json", "--planes", "3", "--max-bytes", "4M", "--kill-plane", "2@1:2");
    List<String> all = new ArrayList<>(options);
    all.addAll(List.of("--plot", plot.toString()));
    try (DemoProcess demo = DemoProcess.start(folder, all.toArray(String[]::new))) {
      assertEquals(0, demo.exitCode(), demo.output());
      JsonNode report = demo.json();
      assertTrue(report.path("passed").asBoolean(), demo.output());
      assertEquals(0, report.path("wrong").asLong(-1));
      assertTrue(report.path("cut_megabytes_per_second").asDouble() > 0, demo.output());
      assertTrue(report.path("after_megabytes_per_second").asDouble() > 0, demo.output());
      assertTrue(report.path("return_seconds").asDouble() >= 2, demo.output());
      assertTrue(java.nio.file.Files.readString(plot).contains("<svg"));
    }
  }
}
