package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Figure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Test of verdicts on targets and regressions, at their limits, and of their texts. */
class VerdictTest {
  private static final Target LEAST = target("group", "plugin", "speed", Bound.atLeast(0.85));
  private static final Target MOST = target("group", "plugin", "time", Bound.atMost(50));

  @TempDir private Path folder;

  private static Target target(String group, String measurement, String figure, Bound bound) {
    return new Target(group, measurement, figure, bound, null);
  }

  private static Target limited(String reason, String measurement, String figure, Bound bound) {
    Target.Limit limit = new Target.Limit(reason, measurement, figure, bound);
    return new Target("group", "plugin", "speed", Bound.atLeast(0.85), limit);
  }

  private static Target.Result judged(Target target, double median) {
    return target
        .verdict(Outcomes.only(Outcomes.of("plugin", Figure.of(target.figure(), "", median))))
        .result();
  }

  @Test
  void targetIsMetAtItsLimitAndMissedJustBeyond() {
    assertEquals(Target.Result.MET, judged(LEAST, 0.85));
    assertEquals(Target.Result.MISSED, judged(LEAST, Math.nextDown(0.85)));
    assertEquals(Target.Result.MET, judged(MOST, 50));
    assertEquals(Target.Result.MISSED, judged(MOST, Math.nextUp(50.0)));
  }

  @Test
  void medianCountsInsteadOfTheBestRound() {
    Figure lucky = new Figure("speed", "", 0.8, 0.7, 2.0);
    assertEquals(
        Target.Result.MISSED, LEAST.verdict(Outcomes.only(Outcomes.of("plugin", lucky))).result());
    Figure unlucky = new Figure("time", "ms", 40, 30, 900);
    assertEquals(
        Target.Result.MET, MOST.verdict(Outcomes.only(Outcomes.of("plugin", unlucky))).result());
  }

  @Test
  void nanIsNeitherMetNorMissed() {
    Target.Verdict verdict =
        LEAST.verdict(Outcomes.only(Outcomes.of("plugin", Figure.of("speed", "", Double.NaN))));
    assertEquals(Target.Result.NOT_RUN, verdict.result());
    assertNull(verdict.measured());
  }

  @Test
  void failedMeasurementMeetsNoTarget() {
    Outcome failed = Outcomes.failed("plugin", "needs root", Figure.of("speed", "", 3));
    assertEquals(Target.Result.NOT_RUN, LEAST.verdict(Outcomes.only(failed)).result());
    assertEquals("needs root", LEAST.verdict(Outcomes.only(failed)).reason());
  }

  @Test
  void figureLeftOutOfQuickRunIsNotMissed() {
    assertEquals(
        "not part of a quick run", LEAST.verdict(Outcomes.only(Outcomes.quick("plugin"))).reason());
    assertEquals(
        "no such figure in the command's output",
        LEAST.verdict(Outcomes.only(Outcomes.of("plugin"))).reason());
  }

  @Test
  void missedTargetHasItsReasonOnlyWhereFiguresOfTheSameMachineShowIt() {
    Target limited = limited("the core is busy", "plugin", "busy", Bound.atLeast(85));
    Outcome shown = Outcomes.of("plugin", Figure.of("speed", "", 0.5), Figure.of("busy", "%", 99));
    assertEquals("the core is busy", limited.verdict(Outcomes.only(shown)).limit());
    Outcome idle = Outcomes.of("plugin", Figure.of("speed", "", 0.5), Figure.of("busy", "%", 40));
    assertNull(limited.verdict(Outcomes.only(idle)).limit(), "the core was idle");
    Outcome unknown = Outcomes.of("plugin", Figure.of("speed", "", 0.5));
    assertNull(limited.verdict(Outcomes.only(unknown)).limit(), "without evidence");
    Target fromOther = limited("slow code", "plugin-both", "time", Bound.atMost(1));
    Outcome both = Outcomes.of("plugin-both", Figure.of("time", "", 0.9));
    assertEquals(
        "slow code", fromOther.verdict(Map.of("plugin", unknown, "plugin-both", both)).limit());
    assertNull(
        fromOther
            .verdict(Map.of("plugin", unknown, "plugin-both", Outcomes.elsewhere(both)))
            .limit(),
        "shown on another machine");
  }

  @Test
  void everyReasonHasEvidenceOfAMeasurementThatExists() {
    for (Target target : Targets.all()) {
      if (target.limit() != null) {
        assertTrue(
            Measurements.byName().containsKey(target.limit().measurement()), target.toString());
      }
    }
  }

  @Test
  void forecastAddsRecordedTimesAndLimits() {
    List<Measurement> chosen =
        List.of(Measurements.byName().get("plugin"), Measurements.byName().get("wan"));
    assertEquals(
        "2 measurements, at most 11 minutes by their limits",
        BenchCommand.forecast(chosen, List.of()));
    assertEquals(
        "2 measurements, 1 minutes when they were recorded (1 never were), at most 11 minutes by"
            + " their limits",
        BenchCommand.forecast(chosen, List.of(Outcomes.of("plugin"))));
  }

  @ParameterizedTest
  @CsvSource({
    "0.0123, 0.012",
    "0.9996, 1.000",
    "1, 1.00",
    "9.994, 9.99",
    "12.34, 12.3",
    "99.94, 99.9",
    "100, 100",
    "1234.4, 1234",
    "-12.34, -12.3",
    "0, 0.000"
  })
  void numbersHaveThreeDigitsOrAreWholeNumbers(double value, String text) {
    assertEquals(text, Figure.number(value));
  }

  @Test
  void targetsAreUnique() {
    Set<String> seen = new HashSet<>();
    for (Target target : Targets.all()) {
      assertTrue(seen.add(target.measurement() + ": " + target.figure()), target.toString());
      assertTrue(target.bound() == null || target.bound().limit() >= 0, target.toString());
      assertTrue(Measurements.byName().containsKey(target.measurement()), target.toString());
    }
  }

  /* A figure that the report no longer has is a target that wasn't run. */
  @Test
  void boundsOfTheReportItselfAreTargets() {
    Figure met = Figure.of("UPDATE until active", "ms", 19).within(Bound.atMost(20));
    Figure missed =
        Figure.of("gain of two saturating queue pairs", "", 1.5).within(Bound.atLeast(1.9));
    Figure unbounded = Figure.of("program a packet", "ns", 7);
    List<String> verdicts = wan(Outcomes.only(Outcomes.of("wan", met, missed, unbounded)));
    assertTrue(verdicts.contains("UPDATE until active MET ≤ 20.0"), verdicts.toString());
    assertTrue(
        verdicts.contains("gain of two saturating queue pairs MISSED ≥ 1.90"), verdicts.toString());
    assertTrue(verdicts.contains("program a packet NOT_RUN own"), verdicts.toString());
    assertTrue(verdicts.contains("telemetry until UPDATE NOT_RUN own"), verdicts.toString());
    assertTrue(verdicts.contains("steps that hold NOT_RUN ≥ 1.00"), verdicts.toString());
    for (Map<String, Outcome> nothing :
        List.of(Map.<String, Outcome>of(), Outcomes.only(Outcomes.failed("wan", "needs nft")))) {
      List<String> none = wan(nothing);
      assertEquals(verdicts.size(), none.size());
      assertTrue(none.stream().allMatch(each -> each.contains(" NOT_RUN ")), none.toString());
    }
  }

  private static List<String> wan(Map<String, Outcome> outcomes) {
    return Targets.verdicts(outcomes).stream()
        .filter(each -> each.target().measurement().equals("wan"))
        .map(
            each -> each.target().figure() + " " + each.result() + " " + each.target().wantedText())
        .toList();
  }

  @Test
  void boundOfTheReportItselfIsTheTargetsAndKeepsItsReason() {
    String name = "Java: isend + irecv + test, times C";
    Figure missed = Figure.of(name, "", 2.4).within(Bound.atMost(1.7));
    Figure entering =
        Figure.of(
            "Java: entering Java and returning, part of a message's difference to C", "", 0.6);
    Map<String, Outcome> outcomes = Outcomes.only(Outcomes.of("calls", missed, entering));
    List<Target.Verdict> verdicts =
        Targets.verdicts(outcomes).stream()
            .filter(each -> each.target().figure().equals(name))
            .toList();
    assertEquals(1, verdicts.size(), verdicts.toString());
    assertEquals(Target.Result.MISSED, verdicts.getFirst().result());
    assertEquals(Bound.atMost(1.7), verdicts.getFirst().target().bound());
    assertEquals(
        "transitions from C into Java and back are most of the difference",
        verdicts.getFirst().limit());
    Figure without = Figure.of(name, "", 2.4);
    Target target = new Target("calls", "calls", name, null, null);
    assertEquals(
        "the command's output has no bound",
        target.verdict(Outcomes.only(Outcomes.of("calls", without))).reason());
  }

  @Test
  void bothCompilersHaveTheTargetsOfOnePlaneBesideRival() {
    List<String> both =
        Targets.all().stream()
            .filter(target -> target.measurement().equals("latency-both"))
            .map(target -> target.figure() + " " + target.wantedText())
            .toList();
    assertEquals(List.of("latency 8B, 1 plane ÷ TCP ≤ 0.850"), both);
  }

  @Test
  void measurementsHaveUniqueNamesAndCommandsThatPrintJson() {
    List<Measurement> all = Measurements.all();
    Map<String, Measurement> byName = Measurements.byName();
    assertEquals(all.size(), byName.size());
    for (Measurement each : all) {
      for (boolean quickly : List.of(true, false)) {
        List<String> arguments = each.arguments(quickly, "FILE");
        assertEquals(each.jsonFile(), arguments.getLast().equals("FILE"), each.name());
        assertEquals(!each.jsonFile(), arguments.contains("--json"), each.name());
        assertTrue(each.command(quickly).startsWith("heddle "), each.name());
      }
      assertTrue(each.limitSeconds() > 0, each.name());
    }
  }

  @Test
  void bothCompilersRepeatTheMeasurementWithOnePlaneByDefault() {
    List<String> bandwidth = Measurements.byName().get("plugin-both").full();
    assertEquals(
        List.of("--planes", "1", "--compilers", "both"),
        bandwidth.subList(bandwidth.size() - 4, bandwidth.size()));
    List<String> sockets = Measurements.byName().get("sockets-both").full();
    assertEquals(sockets.indexOf("--planes"), sockets.lastIndexOf("--planes"));
    assertFalse(Measurements.byName().containsKey("allreduce-both"));
  }

  private static RegressionCheck.Compared compared(Bound.Side good, double times) {
    return new RegressionCheck.Compared("plugin", "ratio", good, times);
  }

  private static String line(double recorded, RegressionCheck.Compared compared, Double... seen) {
    return RegressionCheck.line(
        List.of(Outcomes.of("plugin", Figure.of("ratio", "", recorded))), compared, List.of(seen));
  }

  @Test
  void regressionBeginsJustBeyondItsFactor() {
    RegressionCheck.Compared more = compared(Bound.Side.AT_LEAST, 2);
    assertTrue(line(0.8, more, 0.4).startsWith("fine "));
    assertTrue(line(0.8, more, 0.399).startsWith("WORSE"));
    RegressionCheck.Compared less = compared(Bound.Side.AT_MOST, 2);
    assertTrue(line(0.8, less, 1.6).startsWith("fine "));
    assertTrue(line(0.8, less, 1.601).startsWith("WORSE"));
  }

  @Test
  void recordAboveParityIsHeldToParityOnly() {
    RegressionCheck.Compared more = compared(Bound.Side.AT_LEAST, 2);
    assertTrue(line(4, more, 0.5).startsWith("fine "), "half of 1, not of 4");
    assertTrue(line(4, more, 0.49).startsWith("WORSE"));
  }

  @Test
  void comparisonNamesMeasuredRecordedAndAllowedValues() {
    assertEquals(
        "WORSE ratio: 0.200 in the best of 2 runs, recorded 0.800 at commit 0123abc, no less than"
            + " 0.400 allowed",
        line(0.8, compared(Bound.Side.AT_LEAST, 2), 0.1, 0.2));
    assertEquals(
        "fine  ratio: 1.50, recorded 0.800 at commit 0123abc, no more than 2.40 allowed",
        line(0.8, compared(Bound.Side.AT_MOST, 3), 1.5));
  }

  @Test
  void runWithoutTheFigureFails() {
    HeddleException fault =
        assertThrows(HeddleException.class, () -> line(0.8, compared(Bound.Side.AT_LEAST, 2)));
    assertEquals(
        "no 'ratio' in the run's output; run heddle bench --only plugin", fault.getMessage());
  }

  @Test
  void checkRequiresRecordsOfAllComparedFigures() throws Exception {
    List<Outcome> all = new ArrayList<>();
    for (String each : List.of("plugin", "sockets", "latency", "calls")) {
      all.add(
          Outcomes.of(
              each,
              Figure.of("bandwidth 2M, 1 plane ÷ TCP, best quarters", "", 1),
              Figure.of("bandwidth 2M, 4 planes ÷ 1 plane, best quarters", "", 1),
              Figure.of("bandwidth 2M, 1 plane ÷ 16 sockets, best quarters", "", 1),
              Figure.of("latency 8B, 1 plane ÷ TCP, best quarters", "", 1),
              Figure.of("Java: isend + irecv + test, times C", "", 1),
              Figure.of("Java, first compiler: isend + irecv + test, times C", "", 1)));
    }
    record(all);
    HeddleException missing =
        assertThrows(HeddleException.class, () -> RegressionCheck.requireRecorded(folder));
    assertTrue(
        String.valueOf(missing.getMessage()).startsWith("no 'Java: single post ÷ C' recorded in "),
        missing.getMessage());
    all.add(
        Outcomes.of(
            "verbs",
            Figure.of("Java: single post ÷ C", "", 1),
            Figure.of("Java: full poll ÷ C", "", 1)));
    record(all);
    RegressionCheck.requireRecorded(folder);
  }

  private void record(List<Outcome> outcomes) throws Exception {
    Files.writeString(folder.resolve(BenchReport.FILE), Json.of(BenchReport.of(outcomes)));
  }

  @Test
  void checkListsItsCommands() {
    assertEquals(5, RegressionCheck.commands().size());
    RegressionCheck.commands()
        .forEach(command -> assertTrue(command.startsWith("./heddle perf "), command));
  }

  @Test
  void missingRecordIsEmptyAndUnreadableOneFails() throws Exception {
    assertEquals(List.of(), BenchReport.recorded(folder));
    Files.createDirectory(folder.resolve(BenchReport.FILE));
    HeddleException fault = assertThrows(HeddleException.class, () -> BenchReport.recorded(folder));
    assertTrue(String.valueOf(fault.getMessage()).contains("bench.json"), fault.getMessage());
  }

  @Test
  void recordsOfOtherMeasurementsKeepTheOrderOfNames() {
    List<Outcome> merged =
        BenchReport.merged(
            List.of(Outcomes.of("routes"), Outcomes.of("plugin")),
            List.of(Outcomes.of("latency")),
            List.of("plugin", "latency", "routes"));
    assertEquals(
        List.of("plugin", "latency", "routes"), merged.stream().map(Outcome::measurement).toList());
  }

  @Test
  void recordOfRemovedMeasurementIsDropped() {
    assertEquals(
        List.of(), BenchReport.merged(List.of(Outcomes.of("gone")), List.of(), List.of("plugin")));
  }

  @Test
  void tableHasRecordsTargetsAndSummary() {
    List<Target.Verdict> verdicts =
        List.of(
            LEAST.verdict(
                Outcomes.only(Outcomes.of("plugin", new Figure("speed", "", 0.9, 0.7, 1.1)))),
            MOST.verdict(Outcomes.only(Outcomes.of("plugin", Figure.of("time", "ms", 61)))),
            target("steps", "steps", "lookup", Bound.atMost(5))
                .verdict(Outcomes.only(Outcomes.failed("steps", "no JDK\nat line 3"))));
    String text = BenchText.of(new BenchReport(List.of(Outcomes.quick("plugin")), verdicts));
    List<String> lines = text.lines().toList();
    assertEquals("# " + Outcomes.MACHINE.text(), lines.get(0));
    assertEquals(
        "# plugin              12 s, 2026-01-02 03:04, commit 0123abc, load 0.5 to 1.5, quick",
        lines.get(1));
    assertTrue(lines.get(3).startsWith("# group "), text);
    assertTrue(
        lines.get(4).matches("  speed +≥ 0\\.850 +0\\.900 +\\(0\\.700 to 1\\.10\\)  met"), text);
    assertTrue(lines.get(5).matches("  time +≤ 50\\.0 +61\\.0 ms +missed"), text);
    assertTrue(lines.get(8).matches("  lookup +≤ 5\\.00 +not run: no JDK"), text);
    assertEquals("# 1 targets met, 1 missed, 1 not run", lines.getLast());
  }
}
