package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link AmongThreadsContestant} with shell scripts as ranks. */
@EndsWithin(30)
final class AmongThreadsTest {
  @TempDir private Path scripts;

  /* Script of a rank, in which $bytes and $turns are those of the order. */
  private static String rank(String turn, String end) {
    return "echo '{\"event\":\"ready\",\"net\":\"Heddle\"}'\nwhile read bytes turns; do\n"
        + turn
        + "\ndone\n"
        + end;
  }

  private static String turns(String more) {
    return "echo '{\"event\":\"turns\",\"bytes\":'$bytes',\"times_us\":['"
        + "$((4 - 3 * RANK))'.0,2.0,5.0],"
        + more
        + "}'";
  }

  private static final String RIGHT = "\"wrong\":0";
  private static final String END = "echo '{\"event\":\"end\",\"wrong\":0}'";

  private Contest measure(String script) throws IOException, InterruptedException {
    Path driver = scripts.resolve("driver.sh");
    Files.writeString(driver, "#!/bin/sh\nRANK=${3#--rank=}\n" + script);
    Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 1, 9000));
    Contest contest = new Contest("perf x", "a title", "%1$s, %2$s%3$s", 2);
    try (AmongThreadsContestant one =
        new AmongThreadsContestant(
            lab, "1 plane", 2, 3, driver, Path.of("plugin.so"), List.of(), Map.of(), () -> {})) {
      contest.awaitWarm(List.of(one));
      contest.measure(List.of(8L), 0, List.of(one));
      one.addAccounts(contest, 2);
      contest.awaitEnd(List.of(one));
    }
    return contest;
  }

  private String failure(String script) throws IOException {
    String message =
        String.valueOf(assertThrows(HeddleException.class, () -> measure(script)).getMessage());
    Matcher logs = PluginPerfTest.LOGS.matcher(message);
    assertTrue(logs.find(), message);
    RunFolder.remove(Path.of(logs.group(1)));
    return message;
  }

  @Test
  void allReduceLastsUntilTheSlowestRank() throws Exception {
    Contest contest = measure(rank(turns(RIGHT), END));
    assertEquals(List.of(4.0, 4.0), contest.values("8B", "1 plane", ""), "of 4, 2 and 5");
    assertEquals("Heddle", contest.results().settings().get("1 plane"));
    assertEquals(1, contest.results().series().size());
  }

  @Test
  void accountsOfThreadsWithTheSameNameAreMeansOfAnAllReduce() throws Exception {
    String progress =
        "{\"name\":\"progress\",\"ran_us\":12,\"waited_us\":3,\"voluntary_switches\":6,"
            + "\"involuntary_switches\":0}";
    String idle = progress.replace("progress", "idle").replace(":12", ":1").replace(":3", ":0");
    Contest contest =
        measure(
            rank(
                turns(RIGHT + ",\"threads\":[" + progress + "," + progress + "," + idle + "]"),
                END));
    assertEquals(List.of(8.0), contest.values("8B, 1 plane", "progress", ": ran"));
    assertEquals(List.of(4.0), contest.values("8B, 1 plane", "progress", ": voluntary switches"));
    assertEquals(List.of(), contest.values("8B, 1 plane", "idle", ": ran"), "ran 0.33 us");
    assertEquals(
        Figure.of("8B, 1 plane, threads' wait for a core", "%", 100 * 6.0 / 31),
        contest.results().figures().get(1));
  }

  @Test
  void wrongOrUnexpectedReportsEndTheRun() throws IOException {
    assertTrue(
        failure(rank(turns("\"wrong\":3"), END)).contains("wrong elements, so its times are"));
    assertTrue(failure(rank(turns("\"x\":1"), END)).contains("wrong elements"), "none reported");
    assertTrue(
        failure(rank(turns(RIGHT).replace("'$bytes'", "16"), END))
            .contains("instead of a turn of 8 bytes"));
    assertTrue(
        failure(rank(turns(RIGHT), END.replace("0}", "2}"))).contains("did not end cleanly"));
    assertTrue(failure("echo hello; read x").contains("unexpected line instead of ready: hello"));
    assertTrue(failure("echo '[1]'; read x").contains("unexpected line instead of ready: [1]"));
  }
}
