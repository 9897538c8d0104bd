package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.job.AllReduceEvent;
import io.heddle.tools.job.AllReduceResult;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class AllReduceReportTest {
  private static AllReduceResult result(double timeUs) {
    return AllReduceResult.of(
        List.of(
            new AllReduceEvent.Size(4_000, 1_000, 5, timeUs, 0),
            new AllReduceEvent.Size(4_000, 1_000, 5, 1, 0)));
  }

  @Test
  void mediansAreComparedWithTheRival() {
    List<AllReduceReport.Row> rows =
        AllReduceReport.rows(
            List.of(
                Map.of(4_000L, List.of(result(30), result(20), result(10))),
                Map.of(4_000L, List.of(result(40), result(60)))));
    assertEquals(1, rows.size());
    AllReduceReport.Cell ours = rows.getFirst().cells().get(0);
    assertEquals(20, ours.medianUs());
    assertEquals(10, ours.leastUs());
    assertEquals(30, ours.mostUs());
    assertEquals(
        0.2, ours.busbwGigabytesPerSecond(), 1e-9, "4000 B in 20 us; for two ranks busbw is algbw");
    assertEquals(2.5, ours.rivalRatio(), 1e-9, "50 us over 20 us");
    assertEquals(1.0, rows.getFirst().cells().get(1).rivalRatio());
  }

  @Test
  void tableNamesContestantsAndConditions() {
    AllReduceReport report =
        new AllReduceReport(
            "loopback addresses",
            2,
            9000,
            2,
            List.of("A, 1 plane", "B, the rival"),
            1,
            AllReduceReport.rows(
                List.of(Map.of(4_000L, List.of(result(30))), Map.of(4_000L, List.of(result(60))))));
    String table = report.table();
    assertTrue(
        table.startsWith("# all-reduce, 2 ranks, MTU 9000, loopback addresses, 2 processors"),
        table);
    assertTrue(table.contains("A, 1 plane"), table);
    assertTrue(table.contains("    2.00"), table);
  }
}
