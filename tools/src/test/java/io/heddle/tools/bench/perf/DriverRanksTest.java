package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link DriverRanks} with shell scripts as ranks, which work, end or are killed. */
@EndsWithin(30)
final class DriverRanksTest {
  private static final long QUIET_SECONDS = 20;

  @TempDir private Path scripts;
  private Path folder = Path.of("none");
  private int idle;

  @AfterEach
  void removeLogs() throws IOException {
    if (Files.exists(folder)) {
      RunFolder.remove(folder);
    }
  }

  /* Starts ranks that run a script, in which $0 is the rank. */
  private DriverRanks start(String script) throws IOException {
    Path driver = scripts.resolve("driver.sh");
    Files.writeString(driver, "#!/bin/sh\n" + script.replace("$0", "${3#--rank=}"));
    Files.setPosixFilePermissions(driver, PosixFilePermissions.fromString("rwxr-xr-x"));
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 1, 9000));
    Map<String, String> environment = Map.of("GREETING", "hello");
    DriverRanks ranks =
        new DriverRanks(
            "spray", lab, 2, driver, Path.of("x.so"), List.of(), environment, () -> idle++);
    folder = ranks.folder();
    return ranks;
  }

  private static String failure(Executable what) {
    return String.valueOf(assertThrows(HeddleException.class, what).getMessage());
  }

  private void assertLogsAreKept() throws IOException {
    assertTrue(Files.exists(folder.resolve("rank-0.log")));
    assertTrue(Files.exists(folder.resolve("rank-1.log")));
  }

  @Test
  void linesAreReadRankByRankAndOrdersReachAll() throws Exception {
    try (DriverRanks ranks = start("echo $GREETING $0; read order; echo $order $0; echo bye")) {
      assertEquals("hello 1", ranks.next(1, QUIET_SECONDS));
      assertEquals("hello 0", ranks.next(0, QUIET_SECONDS));
      ranks.sendLine("go");
      assertEquals("go 0", ranks.next(0, QUIET_SECONDS));
      ranks.awaitEnd();
      assertEquals(List.of("bye"), ranks.unreadLines(0));
      assertEquals(List.of("go 1", "bye"), ranks.unreadLines(1));
    }
    assertFalse(Files.exists(folder), "a good run leaves no logs");
  }

  @Test
  void killedRankIsNamedWithItsSignalWhileWaitingForTheOther() throws Exception {
    try (DriverRanks ranks = start("echo ready; read order")) {
      assertEquals("ready", ranks.next(1, QUIET_SECONDS));
      ProcessHandle.of(ranks.pids().get(1)).orElseThrow().destroyForcibly();
      assertEquals("ready", ranks.next(0, QUIET_SECONDS));
      String message = failure(() -> ranks.next(0, QUIET_SECONDS));
      assertTrue(message.startsWith("spray: rank 1 died: killed by signal 9 (all logs"), message);
      assertTrue(message.endsWith("\nrank 1 logged nothing"), message);
    }
    assertLogsAreKept();
  }

  @Test
  void failedRankIsNamedWithItsLastLogLine() throws Exception {
    try (DriverRanks ranks =
        start("[ $0 = 1 ] && read order; echo up >&2; echo 'no plane' >&2; exit 3")) {
      String message = failure(ranks::awaitEnd);
      assertTrue(message.startsWith("spray: rank 0 ended with 3: no plane (all logs"), message);
      assertTrue(message.endsWith("\nrank 0's last log lines:\n    up\n    no plane"), message);
    }
    assertLogsAreKept();
  }

  @Test
  void allFailedRanksAreNamed() throws Exception {
    try (DriverRanks ranks = start("[ $0 = 1 ] && kill -9 $$; echo 'peer gone' >&2; exit 1")) {
      for (long pid : ranks.pids()) {
        ProcessHandle.of(pid).ifPresent(process -> process.onExit().join());
      }
      String message = failure(() -> ranks.next(0, QUIET_SECONDS));
      assertTrue(
          message.startsWith(
              "spray: rank 0 ended with 1: peer gone, rank 1 died: killed by signal 9"),
          message);
    }
  }

  @Test
  void linesOfAnEndedRankAreReadBeforeItsEnd() throws Exception {
    try (DriverRanks ranks = start("echo first; echo last; [ $0 = 1 ] && read order; exit 0")) {
      assertEquals("first", ranks.next(0, QUIET_SECONDS));
      assertEquals("last", ranks.next(0, QUIET_SECONDS));
      String message = failure(() -> ranks.next(0, QUIET_SECONDS));
      assertTrue(message.startsWith("spray: rank 0 ended with 0 without a log line"), message);
    }
  }

  @Test
  void orderToAnEndedRankFailsWithItsEnd() throws Exception {
    try (DriverRanks ranks = start("[ $0 = 0 ] && read order; echo wrong data >&2; exit 2")) {
      ProcessHandle.of(ranks.pids().get(1)).ifPresent(process -> process.onExit().join());
      String message = failure(() -> ranks.sendLine("go"));
      assertTrue(message.startsWith("spray: rank 1 ended with 2: wrong data"), message);
    }
  }

  @Test
  void silenceOfAllRanksIsAHang() throws Exception {
    try (DriverRanks ranks = start("echo waiting >&2; read order")) {
      String message = failure(() -> ranks.next(0, 1));
      assertTrue(message.startsWith("spray: rank 0 reported nothing for 1 s (all logs"), message);
      assertTrue(idle > 0);
    }
    assertLogsAreKept();
  }

  @Test
  void slowRankIsNoHangWhileAnotherPrints() throws Exception {
    String script = "[ $0 = 1 ] && while echo tick; do sleep 0.1; done; sleep 5; echo done";
    try (DriverRanks ranks = start(script)) {
      assertEquals("done", ranks.next(0, 4));
    }
  }

  @Test
  void closingEndsAllRanks() throws Exception {
    List<Long> pids;
    try (DriverRanks ranks = start("exec sleep 25")) {
      pids = ranks.pids();
    }
    for (long pid : pids) {
      assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
    }
  }
}
