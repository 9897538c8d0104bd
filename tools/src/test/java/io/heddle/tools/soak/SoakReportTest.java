package io.heddle.tools.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Test of {@link SoakReport}: totals over many runs, and the text of a failed run. */
class SoakReportTest {
  private static final ChaosEvent CUT = new ChaosEvent(60, 100, ChaosFault.CARRIER_CUT, 0, 1, 0);
  private static final ChaosEvent STOP = new ChaosEvent(60, 100, ChaosFault.STOPPED_PEER, 0, 0, 0);
  private static final ChaosEvent KILL =
      new ChaosEvent(200, ChaosEvent.FOR_EVER, ChaosFault.KILLED_PEER, 1, 0, 0);
  private static final ChaosEvent SILENT =
      new ChaosEvent(200, ChaosEvent.FOR_EVER, ChaosFault.ALL_SILENT, 1, 0, 0);

  private static ChaosPlan plan(long seed, ChaosEvent... events) {
    ChaosSetting setting =
        new ChaosSetting(seed / ChaosSetting.GROUP, 3, 9000, "pinned", "", 1_000);
    return new ChaosPlan(seed, setting, 1 << 14, 500, List.of(events));
  }

  private static ChaosVerdict verdict(ChaosVerdict.Kind kind, double gapMs, double toldMs) {
    @Nullable String explanation = kind == ChaosVerdict.Kind.PASSED ? null : "the explanation";
    return new ChaosVerdict(kind, explanation, 100, 3 << 20, 0, gapMs, toldMs);
  }

  private static ChaosVerdict passed(double gapMs, double toldMs) {
    return verdict(ChaosVerdict.Kind.PASSED, gapMs, toldMs);
  }

  @Test
  void soakWithoutRunsFails() {
    SoakReport report = new SoakReport(5);
    assertFalse(report.passed());
    assertTrue(report.table().contains("\nFAILED: 0 runs"), report.table());
  }

  @Test
  void oneBadRunFailsTheSoakAndIsListed() {
    SoakReport report = new SoakReport(5);
    report.add(plan(5), passed(1, 0));
    assertTrue(report.passed());
    report.add(plan(6), verdict(ChaosVerdict.Kind.HUNG, 0, 0));
    report.add(plan(7), passed(1, 0));
    assertFalse(report.passed());
    assertEquals("3 runs, 1 bad, 300 messages", report.summary());
    assertTrue(
        report.table().endsWith("FAILED: 3 runs, seeds 5 to 7, 1 bad\n  seed 6: hung"),
        report.table());
    SoakReport.Document document = report.document();
    assertEquals(1, document.hangs());
    assertEquals(0, document.leaks());
    assertEquals(Map.of("passed", 2, "hung", 1), document.outcomes());
    assertEquals(
        List.of(new SoakReport.Failure(6, "hung", "the explanation")), document.failures());
  }

  @Test
  void faultsAndPoliciesAreCounted() {
    SoakReport report = new SoakReport(0);
    report.add(plan(0, CUT, STOP), passed(1, 0));
    report.add(plan(1, CUT), passed(1, 0));
    SoakReport.Document document = report.document();
    assertEquals(Map.of("link down", 2, "peer stopped", 1), document.faults());
    assertEquals(Map.of("pinned", 2), document.policies());
    assertTrue(report.table().contains("under pinned                              2\n"));
    assertTrue(report.table().contains("  link down                               2\n"));
    assertTrue(report.table().contains("MiB                                       6\n"));
  }

  @Test
  void longestGapNamesItsSeedAndSeparatesRunsWithoutPlane() {
    SoakReport report = new SoakReport(0);
    report.add(plan(0, CUT), passed(40, 0));
    report.add(plan(1, STOP), passed(250, 0));
    report.add(plan(2, CUT), passed(30, 0));
    SoakReport.Document document = report.document();
    assertEquals(new SoakReport.Gap(250, 1), document.longestGap());
    assertEquals(new SoakReport.Gap(40, 0), document.longestGapWithPlane());
    assertTrue(report.table().contains("250 (seed 1)"), report.table());
  }

  @Test
  void equalGapsNameTheEarlierSeed() {
    SoakReport report = new SoakReport(0);
    report.add(plan(3), passed(40, 0));
    report.add(plan(4), passed(40, 0));
    assertEquals(new SoakReport.Gap(40, 3), report.document().longestGap());
  }

  @Test
  void killAndLossOfAllPlanesAreTimedSeparately() {
    SoakReport report = new SoakReport(0);
    report.add(plan(0, KILL), passed(0, 20));
    report.add(plan(1, SILENT), passed(0, 2_600));
    report.add(plan(2, KILL), passed(0, 15));
    report.add(plan(3, CUT), passed(9, 0));
    SoakReport.Document document = report.document();
    assertEquals(3, document.fatalRuns());
    assertEquals(20, document.longestKillDetectionMs());
    assertEquals(2_600, document.longestLossDetectionMs());
  }

  @Test
  void wrongBytesAreSummed() {
    SoakReport report = new SoakReport(0);
    report.add(plan(0), new ChaosVerdict(ChaosVerdict.Kind.WRONG, "3 wrong bytes", 1, 1, 3, 0, 0));
    report.add(plan(1), new ChaosVerdict(ChaosVerdict.Kind.WRONG, "4 wrong bytes", 1, 1, 4, 0, 0));
    assertEquals(7, report.document().wrongBytes());
    assertEquals(2, report.document().outcomes().get("wrong bytes"));
  }

  @Test
  void failureTextHasTheCommandsThatRepeatIt() {
    ChaosPlan inTheMiddle = plan(2L * ChaosSetting.GROUP + 3, CUT);
    String said =
        SoakReport.failure(
            inTheMiddle,
            verdict(ChaosVerdict.Kind.LEAKED, 0, 0),
            Path.of("/tmp/pair-1"),
            " --policy pinned");
    assertEquals(
        """
        seed 35: left objects open: the explanation
          it was: 3 planes, MTU 9000, pinned, grace 1000 ms, messages to 16384 B for 500 ms; \
        60 ms: link down on plane 2 at rank 0, 100 ms
          logs: /tmp/pair-1; again with: ./heddle soak --policy pinned --runs 1 --seed 35
          or, with those before it in the same processes: \
        ./heddle soak --policy pinned --runs 4 --seed 32\
        """,
        said);
  }

  @Test
  void firstRunOfAGroupIsRepeatedAlone() {
    String said =
        SoakReport.failure(
            plan(ChaosSetting.GROUP),
            verdict(ChaosVerdict.Kind.HUNG, 0, 0),
            Path.of("/tmp/pair-1"),
            "");
    assertTrue(said.endsWith("again with: ./heddle soak --runs 1 --seed 16"), said);
  }
}
