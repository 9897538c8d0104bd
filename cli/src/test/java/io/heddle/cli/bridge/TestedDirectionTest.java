package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.Gid;
import org.junit.jupiter.api.Test;

/** Tests that the received datagrams determine the reported state of a direction. */
final class TestedDirectionTest {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);

  private final TestedDirection direction = new TestedDirection("239.1.1.1", GROUP, 0, true);

  private static TestDatagram.Received datagram(long number, long latenessNs, boolean right) {
    return new TestDatagram.Received(7, 0, number, GROUP, 3, 1000, 1, 1000 + latenessNs, right);
  }

  private static GroupTestReport.Direction report(TestedDirection of) {
    return of.report("a", "b", false);
  }

  private void sends(int count) {
    for (int i = 0; i < count; i++) {
      direction.countSent();
    }
  }

  @Test
  void directionFlowsOnceAllArrivedOnce() {
    sends(3);
    assertEquals(GroupTestReport.NOTHING, report(direction).state());
    assertEquals(3, report(direction).lost());
    direction.receive(datagram(0, 5000, true), 1);
    direction.receive(datagram(2, 9000, true), 1);
    assertEquals(GroupTestReport.LOSES, report(direction).state());
    assertFalse(direction.isComplete());
    direction.receive(datagram(1, 2000, true), 1);
    assertTrue(direction.isComplete());
    GroupTestReport.Direction report = report(direction);
    assertEquals(GroupTestReport.FLOWS, report.state());
    assertEquals(5.0, report.medianUs());
    assertEquals(9.0, report.mostUs());
    assertTrue(report.matchesConfiguration());
  }

  @Test
  void reportsCopiesDamageAndReturns() {
    sends(1);
    direction.receive(datagram(0, 1, true), 1);
    direction.receive(datagram(0, 1, true), 0);
    assertEquals(GroupTestReport.COMES_BACK, report(direction).state());
    direction.receive(datagram(0, 1, true), 1);
    assertEquals(GroupTestReport.TWICE, report(direction).state());
    direction.receive(datagram(0, 1, false), 1);
    GroupTestReport.Direction report = report(direction);
    assertEquals(GroupTestReport.DAMAGED, report.state());
    assertEquals(1, report.duplicates());
    assertEquals(1, report.damaged());
    assertEquals(1, report.returned());
    assertFalse(report.matchesConfiguration());
  }

  @Test
  void excludedDirectionMustStayShut() {
    TestedDirection shut = new TestedDirection("239.1.1.1", GROUP, 0, false);
    shut.countSent();
    assertEquals(GroupTestReport.SHUT, report(shut).state());
    assertTrue(report(shut).matchesConfiguration());
    shut.receive(datagram(0, 1, true), 1);
    assertEquals(GroupTestReport.LEAKS, report(shut).state());
    assertFalse(report(shut).matchesConfiguration());
  }
}
