package io.heddle.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class PublishedFiguresTest {
  private static void assertWithin(List<CheckRow> rows) {
    assertEquals(List.of(), rows.stream().filter(each -> !each.isWithin()).toList());
  }

  @Test
  void policyTableIsMet() {
    List<CheckRow> rows = TableCheck.run(2, part -> {});
    assertWithin(rows);
    assertEquals(21, rows.size());
  }

  @Test
  void packetEngineFiguresAreMet() {
    List<CheckRow> rows = HtsimCheck.run(1);
    assertWithin(rows);
    assertEquals(2, rows.size());
  }

  @Test
  void excessiveDeviationIsReported() {
    assertTrue(CheckRow.of("any", "spray", 1, 0.96, 0.04).isWithin());
    assertEquals(false, CheckRow.of("any", "spray", 1, 0.95, 0.04).isWithin());
  }
}
