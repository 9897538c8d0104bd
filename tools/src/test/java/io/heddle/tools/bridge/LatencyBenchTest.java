package io.heddle.tools.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.bridge.BridgeProcess;
import io.heddle.cli.kit.Installation;
import io.heddle.platform.ThreadAffinity;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Test of a short latency measurement: every connection carries packets and has its rows in the
 * report.
 */
@EndsWithin(180)
@SystemTest
class LatencyBenchTest {
  @Test
  void everyConnectionCarriesPacketsUnderBothLoads() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    if (!Files.exists(Installation.part(Installation.DATAGRAM_FORWARDER))) {
      Skip.because("the bridge's rivals in C aren't built; ./heddle build does that");
    }
    BitSet processors = ThreadAffinity.allowed();
    LatencyBench.Plan plan = new LatencyBench.Plan(1, 50, 2000, 200, 320, processors.length() - 1);
    LatencyReport report = new LatencyBench(plan, BridgeProcess.program()).run(Lab.Kind.NAMESPACES);
    List<String> links = report.rows().stream().map(LatencyReport.Row::joining).distinct().toList();
    assertEquals(
        List.of("one fabric", "bridge", "bridge, spinning", "C forwarder", "kernel routing"),
        links);
    assertEquals(10, report.rows().size());
    for (LatencyReport.Row each : report.rows()) {
      assertTrue(each.packets() > 0, each.toString());
      assertTrue(each.packets() + each.lost() >= 50, each.toString());
      assertTrue(each.medianUs() > 0 && each.p999Us() >= each.medianUs(), each.toString());
    }
    String table = report.table();
    assertTrue(table.contains("\nkernel routing   half "), table);
  }
}
