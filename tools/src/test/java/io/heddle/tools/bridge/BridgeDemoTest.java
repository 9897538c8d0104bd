package io.heddle.tools.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.bridge.BridgeProcess;
import io.heddle.cli.bridge.BridgeTable;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Test of short runs of the bridge demos, with six hosts and both IP versions. */
@EndsWithin(180)
class BridgeDemoTest {
  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  /*
   * The beacon interval of 800 ms is so long that no pause of a busy machine exceeds the hold time.
   */
  @Test
  @WholeRunOnly
  @SystemTest
  void drainAndKillDuplicateNoPayload() throws Exception {
    FailoverDemo demo = new FailoverDemo(BridgeProcess.program(), 800);
    FailoverDemo.Report report = demo.run(Lab.Kind.NAMESPACES);
    assertTrue(report.passed(), report.table());
    assertTrue(report.table().contains("duplicates 0, damaged 0"), report.table());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyPayloadCrossesTheBridgeOnceAndNoneComesBack(boolean trains) throws Exception {
    BridgeDemo.Plan plan = new BridgeDemo.Plan(3, 2, 200, 320, trains);
    BridgeDemo.Report report = new BridgeDemo(plan).run(Lab.Kind.NAMESPACES);
    assertTrue(report.passed(), report.table() + report.bridge());
    assertEquals(2 * 3 * 3 * 2 * 200, report.delivered());
    assertEquals(report.expectedWithin(), report.within());
    assertEquals(0, report.duplicates());
    assertTrue(report.table().contains("PASSED"));
    String bridge = BridgeTable.of(report.bridge());
    assertTrue(bridge.contains("239.1.1.1"));
    assertFalse(bridge.contains("configuration"), bridge);
    assertEquals(bridge, bridge.replace(" \n", "\n"), "no line ends in a blank");
  }
}
