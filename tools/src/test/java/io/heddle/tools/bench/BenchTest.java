package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Checkout;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.bench.contest.Machine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of the conversion of a command's JSON to figures, of verdicts on the figures, and of their
 * record.
 */
class BenchTest {
  private static final Machine MACHINE = new Machine("a processor", 2, 4, "6.1", "a JVM");

  @TempDir private Path folder;

  private static Outcome outcome(String measurement, String commit, List<Figure> figures) {
    return new Outcome(
        measurement,
        "./heddle x",
        false,
        commit,
        "now",
        1,
        0,
        0,
        MACHINE,
        figures,
        null,
        false,
        null);
  }

  private static Outcome failed(String measurement, String reason) {
    return new Outcome(
        measurement,
        "./heddle x",
        false,
        "c",
        "now",
        1,
        0,
        0,
        MACHINE,
        List.of(),
        reason,
        false,
        null);
  }

  /* Each contest has the same JSON, of which the figures are read. */
  @Test
  void figuresOfContestAreReadWithTheirBounds() throws Exception {
    Contest contest = new Contest("perf x", "a title", "%1$s, %2$s%3$s", 3);
    for (double each : List.of(30.0, 40.0, Double.NaN, 45.0)) {
      contest.add("bandwidth 1M", "1 plane", "", "Gbit/s", each);
    }
    contest.bind("bandwidth 1M", "1 plane", "", Bound.atLeast(39));
    contest.add(Figure.of("derived", "", 2));
    List<Figure> read =
        FigureReader.CONTEST.read(Json.mapper().readTree(Json.of(contest.results())));
    assertEquals(
        List.of(
            new Figure("bandwidth 1M, 1 plane", "Gbit/s", 40, 30, 45, Bound.atLeast(39)),
            Figure.of("derived", "", 2)),
        read);
  }

  @Test
  void targetIsMetOrMissedOrNotRunWithReason() {
    Target least = new Target("a group", "plugin", "x ÷ TCP", Bound.atLeast(0.85), null);
    Target most = new Target("a group", "plugin", "x ÷ TCP", Bound.atMost(0.85), null);
    Outcome good = outcome("plugin", "c", List.of(Figure.of("x ÷ TCP", "", 0.9)));
    assertEquals(Target.Result.MET, least.verdict(Outcomes.only(good)).result());
    assertEquals(Target.Result.MISSED, most.verdict(Outcomes.only(good)).result());
    assertEquals(
        "needs root", least.verdict(Outcomes.only(failed("plugin", "needs root"))).reason());
    assertEquals("heddle bench --only plugin", least.verdict(Map.of()).reason());
    assertEquals(
        "no such figure in the command's output",
        least.verdict(Outcomes.only(outcome("plugin", "c", List.of()))).reason());
  }

  @Test
  void newMeasurementReplacesItsRecordAndKeepsOthers() throws Exception {
    List<Outcome> before =
        List.of(
            outcome("plugin", "old", List.of(Figure.of("start", "ms", 1))),
            outcome("latency", "old", List.of()));
    Files.writeString(folder.resolve(BenchReport.FILE), Json.of(BenchReport.of(before)));
    List<Outcome> merged =
        BenchReport.merged(
            BenchReport.recorded(folder),
            List.of(outcome("latency", "new", List.of())),
            List.of("plugin", "latency", "routes"));
    assertEquals(
        List.of("old", "new"), merged.stream().map(Outcome::commit).toList(), merged.toString());
    assertEquals(before.getFirst(), merged.getFirst());
  }

  @Test
  void failedMeasurementKeepsRecordedFigures() {
    Outcome good = outcome("plugin", "old", List.of(Figure.of("start", "ms", 1)));
    List<String> names = List.of("plugin", "latency");
    List<Outcome> merged =
        BenchReport.merged(
            List.of(good, failed("latency", "before")),
            List.of(failed("plugin", "needs root"), failed("latency", "again")),
            names);
    assertEquals(good.figures(), merged.getFirst().figures());
    assertEquals("now: needs root", merged.getFirst().laterFailure());
    assertEquals("again", merged.get(1).failure());
    assertTrue(
        BenchText.of(BenchReport.of(merged))
            .contains("; kept, since a later run FAILED, now: needs root"));
    assertTrue(
        BenchText.of(BenchReport.of(merged))
            .endsWith(" not run; of earlier runs, since the newest FAILED: plugin\n"));
    Outcome better = outcome("plugin", "new", List.of());
    assertNull(BenchReport.merged(merged, List.of(better), names).getFirst().laterFailure());
  }

  @Test
  void checkWithoutRecordFailsBeforeMeasuring() {
    HeddleException none =
        assertThrows(HeddleException.class, () -> RegressionCheck.requireRecorded(folder));
    assertTrue(String.valueOf(none.getMessage()).contains(folder + "/bench.json"));
  }

  @Test
  void malformedRecordIsNamed() throws Exception {
    Files.writeString(folder.resolve(BenchReport.FILE), "[1, 2");
    HeddleException failed =
        assertThrows(HeddleException.class, () -> BenchReport.recorded(folder));
    assertTrue(String.valueOf(failed.getMessage()).contains("is not a record of heddle bench"));
  }

  @Test
  void everyTargetHasItsMeasurementAndIsInTheTable() {
    BenchReport report = BenchReport.of(List.of());
    for (Target.Verdict verdict : report.targets()) {
      String name = verdict.target().measurement();
      assertTrue(name.isEmpty() || Measurements.byName().containsKey(name), name);
      assertNull(verdict.measured());
    }
    String table = BenchText.of(report);
    assertEquals(
        report.targets().size(), table.lines().filter(l -> l.contains("not run:")).count());
    assertTrue(table.endsWith(report.targets().size() + " not run\n"), table);
  }

  @Test
  void plotsShowMeasuredFigures() throws Exception {
    Outcome plugin =
        outcome(
            "plugin",
            "c",
            List.of(
                Figure.of("bandwidth 1M, 1 plane ÷ TCP", "", 0.9),
                Figure.of("bandwidth 1M, 4 planes ÷ TCP", "", 0.8),
                Figure.of("bandwidth 1M, 4 planes ÷ 1 plane", "", 7)));
    Outcome policies =
        outcome(
            "policies",
            "c",
            List.of(
                Figure.of("equal, spray ÷ ideal", "", 0.99),
                Figure.of("equal, hash ÷ ideal", "", 0.5),
                Figure.of("equal, spray, message p99", "ms", 44)));
    List<Path> files = BenchPlots.write(folder, List.of(plugin, policies));
    assertEquals(
        List.of("bench-bandwidth.svg", "bench-policies.svg", "bench-policies-p99.svg"),
        files.stream().map(file -> file.getFileName().toString()).toList());
    String picture = Files.readString(files.get(1));
    assertTrue(
        picture.contains("<svg") && picture.contains("<path"), "a picture: " + picture.length());
  }

  @Test
  void regressionIsWorseThanTheFactorInTheBestRun() {
    List<Outcome> recorded =
        List.of(
            outcome("plugin", "c", List.of(Figure.of("speed", "", 0.9))),
            outcome("latency", "c", List.of(Figure.of("time", "", 0.9))));
    RegressionCheck.Compared speed =
        new RegressionCheck.Compared("plugin", "speed", Bound.Side.AT_LEAST, 2);
    RegressionCheck.Compared time =
        new RegressionCheck.Compared("latency", "time", Bound.Side.AT_MOST, 2);
    double third = 0.9 / 3;
    assertTrue(RegressionCheck.line(recorded, speed, List.of(third)).startsWith("WORSE"));
    assertTrue(RegressionCheck.line(recorded, speed, List.of(third, 0.5)).startsWith("fine"));
    assertTrue(RegressionCheck.line(recorded, time, List.of(2.7)).startsWith("WORSE"));
    assertTrue(RegressionCheck.line(recorded, time, List.of(2.7, 1.7)).startsWith("fine"));
    HeddleException none =
        assertThrows(
            HeddleException.class, () -> RegressionCheck.line(List.of(), speed, List.of(third)));
    assertTrue(String.valueOf(none.getMessage()).contains("run heddle bench --only plugin"));
  }

  @Test
  void recordOfTheCheckoutIsReadAndComparable() {
    Path results = Checkout.path("perf-tests/results");
    assertTrue(BenchReport.recorded(results).size() > 20);
    RegressionCheck.requireRecorded(results);
  }
}
