package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class FailoverReportTest {
  private static Recovery recovery(Double fullSpeedMs) {
    return new Recovery(2, 10, fullSpeedMs, 500, 500);
  }

  @Test
  void medianOfTwoRoundsIsBetweenThem() {
    FailoverReport.Row row =
        FailoverReport.Row.of(FailoverCase.CARRIER, List.of(recovery(0.0), recovery(80.0)));
    assertTrue(row.line().contains("40.0 (0.0 to 80.0)"), row.line());
    assertTrue(row.line().strip().endsWith("missed"), row.line());
  }

  @Test
  void roundWithoutRecoveryMissesTheTarget() {
    FailoverReport.Row row =
        FailoverReport.Row.of(FailoverCase.SILENT, List.of(recovery(500.0), recovery(null)));
    assertFalse(row.met());
    assertTrue(row.line().contains("500.0 (500.0 to 500.0), never 1"), row.line());
  }
}
