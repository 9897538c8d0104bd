package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Skip;
import org.junit.jupiter.api.Test;

/** Test of switches that spray packets between RDMA devices of the kernel's rxe. */
@EndsWithin(400)
@SystemTest
final class SwitchingOnRxeTest {
  @Test
  @WholeRunOnly
  void kernelDevicesPacketsAreNotSprayedAndKeepGoodput() throws Exception {
    Skip.unlessFabric(false);
    JsonNode report =
        HeddleRun.json(
            "perf",
            "switching",
            "--json",
            "--policies",
            "rxe",
            "--switching",
            "hash,spraylink",
            "--rounds",
            "1",
            "--milliseconds",
            "1000");
    if (!report.path("rxe_skipped").asText().isEmpty()) {
      Skip.because(report.path("rxe_skipped").asText());
    }
    assertEquals(2, report.path("situations").size(), report.toString());
    for (JsonNode situation : report.path("situations")) {
      assertEquals(2, situation.path("cells").size(), report.toString());
      for (JsonNode cell : situation.path("cells")) {
        /* The share of ECN marks is null if the switches sprayed no packet. */
        assertTrue(cell.path("marked").path(0).isNumber(), report.toString());
        assertEquals(0, cell.path("marked").path(0).asDouble(), report.toString());
        assertTrue(cell.path("goodput_gbps").path(0).asDouble() > 0, report.toString());
      }
      /* If packets were reordered, retransmissions would take most of the link's rate. */
      double ofHash = situation.path("cells").path(1).path("of_hash").path(0).asDouble();
      assertTrue(ofHash > 0.5, report.toString());
    }
  }
}
