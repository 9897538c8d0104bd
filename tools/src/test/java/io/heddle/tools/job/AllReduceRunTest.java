package io.heddle.tools.job;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link AllReduceRun} with shell scripts as ranks. */
@EndsWithin(30)
final class AllReduceRunTest {
  private static final String REPORTS =
      """
      echo '{"event":"start","rank":'$3',"net":"Heddle","abi":12}'
      echo '{"event":"size","bytes":8,"count":2,"iterations":5,"time_us":'$((4 * ($3 + 1)))',"wrong":0}'
      echo '{"event":"size","bytes":16,"count":4,"iterations":5,"time_us":8,"wrong":'$WRONG'}'
      """;
  private static final String END = "echo '{\"event\":\"end\",\"wrong\":'$WRONG'}'\n";

  @TempDir private Path folder;
  private final List<AllReduceResult> seen = new ArrayList<>();

  /*
   * Returns a run of a script. In the script, $3 is the rank: the driver's arguments are --plugin P
   * --rank R, and the script shifts the first one away.
   */
  private AllReduceRun run(String script, String wrong, long timeoutSeconds) throws IOException {
    Path driver = folder.resolve("driver.sh");
    Files.writeString(driver, "#!/bin/sh\nshift\n" + script);
    Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 1, 9000));
    return new AllReduceRun(
        lab,
        new AllReducePlan(
            driver,
            Path.of("plugin.so"),
            folder,
            new AllReducePlan.Sizes(8, 16, 5, timeoutSeconds),
            1,
            Map.of("WRONG", wrong),
            null));
  }

  private String failure(String script, String wrong, long timeoutSeconds) throws IOException {
    try (AllReduceRun run = run(script, wrong, timeoutSeconds)) {
      HeddleException failed =
          assertThrows(HeddleException.class, () -> run.run(seen::add, () -> {}));
      return String.valueOf(failed.getMessage());
    }
  }

  @Test
  void timeIsOfTheSlowestRank() throws Exception {
    try (AllReduceRun run = run(REPORTS + END, "0", 10)) {
      List<AllReduceResult> results = run.run(seen::add, () -> {});
      assertEquals(results, seen);
      assertEquals(new AllReduceResult(8, 2, 5, 8.0, 0.001, 0.001, 0), results.get(0));
      assertEquals(0, run.wrong());
      assertEquals("Heddle", run.net());
    }
  }

  @Test
  void wrongElementsOfAllRanksAreSummed() throws Exception {
    try (AllReduceRun run = run(REPORTS + END, "3", 10)) {
      assertEquals(6, run.run(seen::add, () -> {}).get(1).wrong());
      assertEquals(6, run.wrong());
    }
  }

  @Test
  void wrongDataFailsTheMeasurementAndKeepsLogs() throws Exception {
    RunFolder logs = new RunFolder();
    try (AllReduceRun run = run(REPORTS + END, "3", 10)) {
      HeddleException failed =
          assertThrows(HeddleException.class, () -> run.measure("one plane", logs, () -> {}));
      assertEquals("one plane: wrong data, so its times are invalid", failed.getMessage());
      logs.close();
      assertTrue(Files.exists(logs.path()));
    } finally {
      Files.deleteIfExists(logs.path());
    }
  }

  @Test
  void deadRankIsNamedWithItsLastLogLines() throws IOException {
    String message = failure("echo 'no plane' >&2\n[ $3 = 1 ] && exit 3\nexec sleep 20\n", "0", 10);
    assertTrue(message.startsWith("rank 1 died: exit code 3; its last log lines"), message);
    assertTrue(message.contains("rank-1.log):\n    no plane"), message);
    assertTrue(message.contains("rank 0 was still running"), message);
  }

  @Test
  void commonReasonOfDeathIsReportedOnce() throws IOException {
    assertEquals(
        "every rank died: exit code 3: no plane (all logs are in " + folder + ")",
        failure("echo no plane >&2\nexit 3\n", "0", 10));
    String message = failure("echo rank $3 has no plane >&2\nexit 3\n", "0", 10);
    assertTrue(message.contains("rank 0 has no plane") && message.contains("rank 1 has no plane"));
  }

  @Test
  void killedRankIsNamedWithItsSignal() throws IOException {
    String message = failure("[ $3 = 0 ] && kill -9 $$\nexit 0\n", "0", 10);
    assertTrue(message.startsWith("rank 0 died: killed by signal 9"), message);
  }

  @Test
  void silenceIsAHang() throws IOException {
    String message = failure("echo waiting >&2\nexec sleep 20\n", "0", 1);
    assertTrue(message.startsWith("no rank reported anything for 1 s\nrank 0 hangs"), message);
    assertTrue(message.contains("waiting"), message);
  }

  /* The run lasts more than twice the hang timeout. */
  @Test
  void ranksThatReportProgressDoNotHang() throws Exception {
    String goesOn =
        "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do\n"
            + "echo '{\"event\":\"under-way\",\"rank\":0,\"bytes\":8,\"iteration\":'$i'}'\n"
            + "sleep 0.4\ndone\n";
    try (AllReduceRun run = run(goesOn + REPORTS + END, "0", 2)) {
      run.run(seen::add, () -> {});
    }
    assertEquals(2, seen.size());
  }

  @Test
  void incompleteRunFails() throws IOException {
    assertTrue(failure("exit 0\n", "0", 10).contains("before its last report"));
    assertTrue(failure(END, "0", 10).contains("0 of 2 sizes were reported"));
  }

  @Test
  void unexpectedLineFailsTheRun() throws IOException {
    assertTrue(failure("echo hello\n", "0", 10).contains("printed an unexpected line: hello"));
    assertTrue(
        failure("echo '{\"event\":\"end\"}'\n", "0", 10).contains("unexpected line"),
        "a missing number isn't zero wrong");
  }

  @Test
  void closingEndsTheRanks() throws Exception {
    long parent = ProcessHandle.current().pid();
    AllReduceRun run = run("exec sleep 25\n", "0", 1);
    assertThrows(HeddleException.class, () -> run.run(seen::add, () -> {}));
    run.close();
    boolean sleeping =
        ProcessHandle.of(parent)
            .orElseThrow()
            .children()
            .anyMatch(
                child -> child.info().command().orElse("").endsWith("sleep") && child.isAlive());
    assertFalse(sleeping);
  }
}
