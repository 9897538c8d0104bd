package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Test of {@code heddle perf plugin} with shell scripts as ranks: results, failures and the report.
 */
@EndsWithin(30)
final class PluginPerfTest {
  private static final String WARM =
      """
      echo '{"event":"start","rank":'$RANK',"net":"Heddle","abi":12,"start_ms":'$((100 + $RANK))',"resident_mib":40.5}'
      echo '{"event":"warm","rank":'$RANK'}'
      """;
  private static final String TWO_STREAMS =
      """
      for bytes in 8 16; do
        read turn
        if [ $RANK = 0 ]; then rate=0; else rate=1e9; fi
        echo '{"event":"bandwidth","direction":"one-way","bytes":'$bytes',"received_bytes_per_second":'$rate'}'
      done
      """;
  private static final String END = "echo '{\"event\":\"end\"}'\n";

  private static final Pattern LOGS = Pattern.compile("all logs are in ([^)]*)\\)");

  @TempDir private Path folder;

  private static PluginPerfPlan plan(Path driver, int rounds, PluginPerfKind... kinds) {
    return plan(driver, JavaCompilers.AUTO, rounds, kinds);
  }

  private static PluginPerfPlan plan(
      Path driver, JavaCompilers compilers, int rounds, PluginPerfKind... kinds) {
    return new PluginPerfPlan(
        driver, List.of(kinds), 8, 16, 8, 2, 8, 1, compilers.settleMs(), rounds, 100, false);
  }

  /*
   * Returns a plan whose driver is a script. The script's sixth argument is the rank, since the
   * arguments are --plugin P --rendezvous F --rank R.
   */
  private PluginPerfPlan script(String text) throws IOException {
    Path driver = folder.resolve("driver.sh");
    Files.writeString(driver, "#!/bin/sh\nRANK=$6\n" + text);
    Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
    return plan(driver, 1, PluginPerfKind.BANDWIDTH);
  }

  private static PluginPerfContestant contestant(PluginPerfPlan plan) throws IOException {
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 1, 9000));
    return new PluginPerfContestant(lab, "1 plane", Path.of("plugin.so"), plan, Map.of());
  }

  private String failure(String text) throws IOException {
    PluginPerfPlan plan = script(text);
    String message;
    try (PluginPerfContestant contestant = contestant(plan)) {
      HeddleException failed =
          assertThrows(
              HeddleException.class,
              () -> {
                contestant.awaitWarm();
                for (PluginPerfPlan.Step step : plan.steps()) {
                  contestant.measure(step);
                }
                contestant.awaitEnd();
              });
      message = String.valueOf(failed.getMessage());
    }
    /* The logs are deleted only now, when no rank writes to them any more. */
    Matcher logs = LOGS.matcher(message);
    assertTrue(logs.find(), message);
    Path kept = Path.of(logs.group(1));
    assertTrue(Files.exists(kept.resolve("rank-0.log")), message);
    RunFolder.remove(kept);
    return message;
  }

  private static PluginPerfReport.Contestant contestant(String name) {
    return new PluginPerfReport.Contestant(name, 150, 60, 0.5, 97.0);
  }

  @Test
  void rivalWithHelperThreadsIsNamedByThemAndStartedWithThem() {
    ContestantsOption plain = CommandLine.populateCommand(new ContestantsOption(), "--planes", "1");
    assertEquals("the rival", plain.rivalRole());
    assertEquals("", plain.fileSuffix());
    ContestantsOption threaded =
        CommandLine.populateCommand(
            new ContestantsOption(), "--rival-threads", "2", "--rival-sockets", "8");
    assertEquals("the rival, 2 threads of 8 sockets", threaded.rivalRole());
    assertEquals("-rival-2x8", threaded.fileSuffix());
    Map<String, String> told =
        threaded.environment(
            new ContestantsOption.Contestant(threaded.rivalRole(), Path.of("rival.so"), true),
            Lab.Kind.NAMESPACES);
    assertEquals("2", told.get("NCCL_SOCKET_NTHREADS"));
    assertEquals("8", told.get("NCCL_NSOCKS_PERTHREAD"));
  }

  @Test
  void bothRanksMeasureOnTheirTurn() throws Exception {
    PluginPerfPlan plan = script(WARM + TWO_STREAMS + END);
    try (PluginPerfContestant contestant = contestant(plan)) {
      contestant.awaitWarm();
      assertEquals(
          new PluginPerfReport.Contestant("Heddle, 1 plane", 101, 40.5, null, null),
          contestant.entry());
      assertEquals(2, plan.steps().size());
      for (PluginPerfPlan.Step step : plan.steps()) {
        assertEquals(8.0, contestant.measure(step), 1e-9, "1e9 bytes are 8 Gbit");
      }
      contestant.awaitEnd();
    }
  }

  @Test
  void rankWithWrongDataEndsTheRunAndIsNamed() throws IOException {
    String message =
        failure(WARM + "read turn\n[ $RANK = 1 ] && echo wrong >&2 && exit 1\nsleep 20\n");
    assertTrue(message.startsWith("1 plane: rank 1 ended with 1: wrong (all logs are in"), message);
    assertTrue(message.contains("\n    wrong"), message);
  }

  @Test
  void unexpectedEventsEndTheRun() throws IOException {
    assertTrue(failure("echo hello\n").contains("unexpected line: hello"));
    assertTrue(
        failure(WARM + END + "read turn\nread turn\n")
            .contains("reported another event than Step"));
    assertTrue(failure(WARM + TWO_STREAMS + WARM).contains("reported more events than expected"));
  }

  @Test
  void mediansAreComparedWithTheRivalAndLessIsBetterForTimes() {
    PluginPerfPlan plan =
        plan(Path.of("driver"), 3, PluginPerfKind.BANDWIDTH, PluginPerfKind.LATENCY);
    Map<PluginPerfPlan.Step, Double> ours = new HashMap<>();
    Map<PluginPerfPlan.Step, Double> rivals = new HashMap<>();
    for (PluginPerfPlan.Step step : plan.steps()) {
      ours.put(step, 10.0 * step.round());
      rivals.put(step, 40.0);
    }
    List<PluginPerfReport.Section> sections =
        PluginPerfReport.sections(plan, List.of(ours, rivals));
    assertEquals(2, sections.get(0).rows().size());
    assertEquals(1, sections.get(1).rows().size(), "round trips end at 8 bytes");
    PluginPerfReport.Cell bandwidth = sections.get(0).rows().getFirst().cells().getFirst();
    assertEquals(new PluginPerfReport.Cell(20, 10, 30, 0.5, List.of(10.0, 20.0, 30.0)), bandwidth);
    assertEquals(2.0, sections.get(1).rows().getFirst().cells().getFirst().timesRival());
    String table =
        new PluginPerfReport(
                "loopback addresses",
                9000,
                2,
                JavaCompilers.BOTH,
                true,
                8,
                1,
                100,
                3,
                List.of(contestant("A"), contestant("B")),
                sections)
            .table();
    assertTrue(table.contains("2 processors, both of Java's compilers, data threads"), table);
    assertTrue(table.contains("# half round trip, us"), table);
    assertTrue(table.contains("20.00   (10.00 to 30.00)   0.50"), table);
  }

  @Test
  void bothCompilersAddUncountedRoundsOfFiveSeconds() {
    PluginPerfKind[] kinds = {PluginPerfKind.BANDWIDTH, PluginPerfKind.LATENCY};
    assertEquals(1, plan(folder, 3, kinds).steps().getFirst().round());
    PluginPerfPlan settled = plan(folder, JavaCompilers.BOTH, 3, kinds);
    assertEquals(-16, settled.steps().getFirst().round(), "a round has 3 measurements of 100 ms");
    List<String> command = settled.command(Path.of("plugin.so"), folder, 0);
    assertEquals("20", command.get(command.indexOf("--rounds") + 1));
    Map<PluginPerfPlan.Step, Double> figures = new HashMap<>();
    for (PluginPerfPlan.Step step : settled.steps()) {
      figures.put(step, step.round() < 1 ? 1e9 : 10.0 * step.round());
    }
    PluginPerfReport.Cell cell =
        PluginPerfReport.sections(settled, List.of(figures))
            .get(1)
            .rows()
            .getFirst()
            .cells()
            .getFirst();
    assertEquals(List.of(10.0, 20.0, 30.0), cell.rounds());
  }

  @Test
  void compilerOptionPrecedesTheUsersOptions() {
    assertEquals(Map.of(), JavaCompilers.AUTO.environment("-Xmx1g"));
    assertEquals(
        Map.of("HEDDLE_JVM_OPTIONS", "-XX:TieredStopAtLevel=4 -Xmx1g"),
        JavaCompilers.BOTH.environment("-Xmx1g"));
    assertEquals(
        Map.of("HEDDLE_JVM_OPTIONS", "-XX:TieredStopAtLevel=1"),
        JavaCompilers.FIRST.environment(null));
  }

  @Test
  void roundWithoutFigureIsLeftOutOfTheMedian() {
    PluginPerfEvent said =
        PluginPerfEvent.parse(
            "{\"event\":\"bandwidth\",\"bytes\":8,\"received_bytes_per_second\":null}");
    double nothing = assertInstanceOf(PluginPerfEvent.Measured.class, said).value();
    assertTrue(Double.isNaN(nothing));
    PluginPerfPlan plan = plan(folder, 3, PluginPerfKind.BANDWIDTH);
    Map<PluginPerfPlan.Step, Double> ours = new HashMap<>();
    for (PluginPerfPlan.Step step : plan.steps()) {
      ours.put(step, step.round() == 2 ? nothing : 10.0 * step.round());
    }
    PluginPerfReport.Cell cell =
        PluginPerfReport.sections(plan, List.of(ours))
            .getFirst()
            .rows()
            .getFirst()
            .cells()
            .getFirst();
    assertEquals(20, cell.median());
    assertEquals(30, cell.most());
    assertTrue(Json.of(cell).replaceAll("\\s", "").contains("\"rounds\":[10.0,null,30.0]"));
  }
}
