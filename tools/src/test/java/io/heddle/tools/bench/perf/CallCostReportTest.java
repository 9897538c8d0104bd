package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Test of {@link CallCostReport}'s verdicts and table. */
final class CallCostReportTest {
  private static final List<String> CASES =
      List.of(
          "message",
          "isend_1_chunk",
          "isend_8_chunks",
          "test_not_ready",
          "test_not_ready_of_32",
          "indirect_call");

  /* Returns three rounds per case: twice the value, the value, and half of it. */
  private static Map<String, List<Double>> figures(double... values) {
    Map<String, List<Double>> figures = new LinkedHashMap<>();
    for (int i = 0; i < values.length; i++) {
      figures.put(CASES.get(i), List.of(values[i] * 2, values[i], values[i] / 2));
    }
    return figures;
  }

  private static CallCostReport.Contestant java(double p9999Us, double pauseUs, Long allocated) {
    return CallCostReport.contestant(
        "Java",
        figures(280, 240, 590, 30, 4, 2),
        figures(200, 70, 350, 5, 5, 2),
        new CallCostReport.Soak(
            7, List.of(new CallCostReport.Tail("isend", 9, 1, 2, 3, p9999Us, 5, 6))),
        new CallCostReport.Machine(1, pauseUs, allocated));
  }

  private static List<Boolean> met(CallCostReport.Contestant one) {
    List<Boolean> met = new ArrayList<>();
    CallCostReport.verdicts(one).forEach(verdict -> met.add(verdict.met()));
    return met;
  }

  @Test
  void figuresWithinAllTargetsMeetThem() {
    assertEquals(List.of(true, true, true, true, true, true, true), met(java(19.9, 1_999, 0L)));
  }

  @Test
  void ratiosAreOfOneRound() {
    CallCostReport.Contestant found = java(1, 1, 0L);
    assertEquals(1.4, found.find("message").timesC(), 1e-9);
    assertEquals(1.4, found.find("message").leastTimesC(), 1e-9);
    assertEquals(140, found.find("message").leastNs(), 1e-9);
    assertEquals(280, found.find("message").medianNs(), 1e-9);
  }

  @Test
  void tailPauseAndAllocationMissSeparateTargets() {
    assertFalse(met(java(20.1, 1, 0L)).get(4));
    assertFalse(met(java(1, 2_001, 0L)).get(5));
    assertFalse(met(java(1, 1, 1024L)).get(6));
  }

  @Test
  void unmeasuredAllocationHasNoVerdict() {
    assertEquals(6, CallCostReport.verdicts(java(1, 1, null)).size());
  }

  @Test
  void tableShowsContestantsAndMissedTargets() {
    CallCostReport.Contestant one = java(25, 1, 0L);
    String table =
        new CallCostReport("machine", 1.5, 3, 10, List.of(one), CallCostReport.verdicts(one))
            .table();
    assertTrue(table.contains("MISSED Java"), table);
    assertTrue(table.contains("isend_8_chunks"), table);
    assertTrue(table.contains("25.00  99.99 % of calls within, us, at most 20"), table);
  }
}
