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
    int measured = 0;
    int compared = 0;
    int marked = 0;
    for (JsonNode series : report.path("series")) {
      double value = series.path("rounds").path(0).asDouble(Double.NaN);
      switch (series.path("quantity").asText()) {
        case "" -> {
          measured++;
          assertTrue(value > 0, report.toString());
        }
        /* The share of ECN marks is null if the switches sprayed no packet. */
        case ", marked" -> {
          marked++;
          assertEquals(0, value, report.toString());
        }
        /* If packets were reordered, retransmissions would take most of the link's rate. */
        case " ÷ hash" -> {
          compared++;
          assertTrue(value > 0.5, report.toString());
        }
        default -> {}
      }
    }
    assertEquals(4, measured, "two states of the links, two modes: " + report);
    assertEquals(2, compared, "two states of the links: " + report);
    assertEquals(4, marked, "two states of the links, two modes: " + report);
  }
}
