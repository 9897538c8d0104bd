package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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

  static final Pattern LOGS = Pattern.compile("all logs are in ([^)]*)\\)");

  @TempDir private Path folder;

  private static PluginPlan plan(Path driver, int rounds, PluginKind... kinds) {
    return plan(driver, JavaCompilers.AUTO, rounds, kinds);
  }

  private static PluginPlan plan(
      Path driver, JavaCompilers compilers, int rounds, PluginKind... kinds) {
    return new PluginPlan(
        driver, List.of(kinds), 8, 16, 8, 2, 8, 1, compilers.settleMs(), rounds, 100, false);
  }

  /*
   * Returns a plan whose driver is a script. The script's third argument is the rank, since the
   * arguments are --plugin=P --rendezvous=F --rank=R.
   */
  private PluginPlan script(String text) throws IOException {
    Path driver = folder.resolve("driver.sh");
    Files.writeString(driver, "#!/bin/sh\nRANK=${3#--rank=}\n" + text);
    Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
    return plan(driver, 1, PluginKind.BANDWIDTH);
  }

  private static PluginContestant contestant(PluginPlan plan) throws IOException {
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 1, 9000));
    return new PluginContestant(lab, "1 plane", Path.of("plugin.so"), plan, Map.of());
  }

  private String failure(String text) throws IOException {
    PluginPlan plan = script(text);
    String message;
    try (PluginContestant contestant = contestant(plan)) {
      HeddleException failed =
          assertThrows(
              HeddleException.class,
              () -> {
                contestant.awaitWarm();
                for (PluginPlan.Step step : plan.steps()) {
                  contestant.sample(step);
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

  @Test
  void rivalWithHelperThreadsIsNamedByThemAndStartedWithThem() {
    ContestantsOption plain = CommandLine.populateCommand(new ContestantsOption(), "--planes", "1");
    assertEquals("the rival", plain.rivalRole());
    assertEquals(" ÷ TCP", plain.overRival());
    assertEquals("", plain.fileSuffix());
    ContestantsOption threaded =
        CommandLine.populateCommand(
            new ContestantsOption(), "--rival-threads", "2", "--rival-sockets", "8");
    assertEquals("the rival, 2 threads of 8 sockets", threaded.rivalRole());
    assertEquals(" ÷ 16 sockets", threaded.overRival());
    assertEquals("-rival-2x8", threaded.fileSuffix());
    Map<String, String> told =
        threaded.environment(
            new ContestantsOption.Entry(threaded.rivalRole(), Path.of("rival.so"), true),
            Lab.Kind.NAMESPACES);
    assertEquals("2", told.get("NCCL_SOCKET_NTHREADS"));
    assertEquals("8", told.get("NCCL_NSOCKS_PERTHREAD"));
  }

  @Test
  void bothRanksMeasureOnTheirTurn() throws Exception {
    PluginPlan plan = script(WARM + TWO_STREAMS + END);
    try (PluginContestant contestant = contestant(plan)) {
      contestant.awaitWarm();
      assertEquals(2, plan.steps().size());
      Contest contest = new Contest("perf x", "a title", "%1$s, %2$s%3$s", 1);
      contest.measure(plan.steps(), 0, List.of(contestant));
      for (PluginPlan.Step step : plan.steps()) {
        List<Double> measured = contest.values(step.toString(), "1 plane", "");
        assertEquals(1, measured.size());
        assertEquals(8.0, measured.getFirst(), 1e-9, "1e9 bytes are 8 Gbit");
      }
      contestant.addCosts(contest);
      assertEquals(List.of(101.0), contest.values("start", "1 plane", ""), "the slower start");
      assertEquals(List.of(40.5), contest.values("memory after the start", "1 plane", ""));
      assertEquals("Heddle", contest.results().settings().get("1 plane"));
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
    assertTrue(failure("echo hello\n").contains("unexpected line instead of start: hello"));
    assertTrue(
        failure(WARM + END + "read turn\nread turn\n")
            .contains("unexpected line instead of bandwidth, latency: {\"event\":\"end\"}"));
    assertTrue(
        failure(WARM + TWO_STREAMS.replace("in 8", "in 9")).contains("instead of bandwidth 8B"));
    assertTrue(
        failure(WARM + TWO_STREAMS + WARM).contains("unexpected line instead of end: {\"event\""));
  }

  @Test
  void roundTripsEndAtTheirLargestSize() {
    PluginPlan plan = plan(folder, 3, PluginKind.BANDWIDTH, PluginKind.LATENCY);
    assertEquals(
        List.of("bandwidth 8B", "latency 8B", "bandwidth 16B"),
        plan.steps().stream().map(PluginPlan.Step::toString).toList());
  }

  @Test
  void bothCompilersAddUncountedRoundsOfFiveSeconds() {
    PluginKind[] kinds = {PluginKind.BANDWIDTH, PluginKind.LATENCY};
    assertEquals(0, plan(folder, 3, kinds).uncountedRounds());
    PluginPlan settled = plan(folder, JavaCompilers.BOTH, 3, kinds);
    assertEquals(17, settled.uncountedRounds(), "a round has 3 measurements of 100 ms");
    assertTrue(settled.options().contains("--rounds=20"), settled.options().toString());
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
  void bandwidthWithoutFigureIsNotANumber() throws Exception {
    String line = "{\"event\":\"bandwidth\",\"bytes\":8,\"received_bytes_per_second\":null}";
    JsonNode event = Json.mapper().readTree(line);
    assertEquals(PluginKind.BANDWIDTH, PluginKind.of(event));
    assertTrue(Double.isNaN(PluginKind.BANDWIDTH.valueOf(event)));
  }
}
