package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests in which processes on separate hosts use the plugin as NCCL does, besides plain sends and
 * receives.
 */
@EndsWithin(300)
@SystemTest
final class NcclHabitsTest {
  private static final int WRONG = 1;

  /**
   * Time limit for a process that hangs. A process whose messages make no progress ends itself
   * earlier.
   */
  private static final long LIMIT_SECONDS = 270;

  @TempDir private Path folder;
  private final long seed = System.nanoTime() & Integer.MAX_VALUE;
  private final Map<String, String> environment = new HashMap<>();

  /**
   * Runs a case of the C program with this many processes. Returns the output of each, with the
   * exit code as the last line.
   */
  private List<String> run(int ranks, String name, String... more)
      throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    System.out.println("seed " + seed);
    /*
     * With timeout code 18, a queue pair waits one second before each retry. So a process that
     * waits for a processor doesn't look like a failed plane.
     */
    environment.putIfAbsent("NCCL_IB_TIMEOUT", "18");
    Path meeting = Files.createDirectory(folder.resolve("meeting"));
    List<HostProcess> processes = new ArrayList<>();
    List<String> output = new ArrayList<>();
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(ranks, ranks > 2 ? 2 : 4, 9000))) {
      try {
        for (int rank = 0; rank < ranks; rank++) {
          Path log = folder.resolve("rank" + rank + ".log");
          List<String> command = command(meeting, rank, ranks, name, more);
          processes.add(HostProcess.start(lab, rank, log, environment, command));
        }
        for (HostProcess process : processes) {
          int code = process.exitCode(LIMIT_SECONDS);
          output.add("seed " + seed + "\n" + process.output() + "exit code " + code);
        }
      } finally {
        for (HostProcess process : processes) {
          process.close();
        }
      }
    }
    return output;
  }

  private List<String> command(Path meeting, int rank, int ranks, String name, String... more) {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.habits().toString()));
    command.addAll(List.of("--case", name, "--plugin", BuildOutputs.plugin().toString()));
    command.addAll(List.of("--rendezvous", meeting.toString(), "--seed", Long.toString(seed)));
    command.addAll(List.of("--rank", Integer.toString(rank), "--ranks", Integer.toString(ranks)));
    command.addAll(List.of(more));
    return command;
  }

  private static void assertAllPassed(List<String> output) {
    output.forEach(
        each -> assertTrue(each.endsWith("exit code 0"), () -> String.join("\n---\n", output)));
  }

  /*
   * Lines are units of data and a flag, as in NCCL's protocols LL and LL128: the receiver polls the
   * flag and reuses the line as soon as it has read it. The fault ghost delivers a packet a second
   * time 20 ms later, when its line has been reused several times.
   */
  @ParameterizedTest
  @CsvSource({
    /* columns: policy, planes, bytes of a line, faults */
    "spray, 4, 8, ''",
    "spray, 4, 128, ''",
    "spray, 1, 8, 'duplicate=0.03,ghost=0.01,ghost-ms=20'",
    "spray, 4, 128, 'duplicate=0.03,reorder=0.03,ghost=0.005,ghost-ms=20'",
    "packet, 4, 8, 'duplicate=0.03,reorder=0.03,loss=0.01'",
    "packet, 4, 128, 'duplicate=0.03,ghost=0.005,ghost-ms=20'",
    "pinned, 4, 8, 'duplicate=0.03,reorder=0.03,ghost=0.005,ghost-ms=20'",
    "pinned, 1, 128, 'reorder=0.03,duplicate=0.03,loss=0.01'",
  })
  @WholeRunOnly(alwaysRunRows = {1, 4, 7})
  void lineWithFlagIsCompleteAndNeverRewritten(
      String policy, int planes, int lineBytes, String faults)
      throws IOException, InterruptedException {
    environment.put("HEDDLE_POLICY", policy);
    if (planes == 1) {
      environment.put("HEDDLE_PLANES", "e1=1");
    }
    if (!faults.isEmpty()) {
      environment.put("HEDDLE_SOFT_FAULTS", faults + ",seed=" + seed);
    }
    List<String> output =
        run(
            2,
            "lines",
            "--rounds=300",
            "--early",
            "--line-bytes=" + lineBytes,
            "--plane-failed=moving off");
    assertAllPassed(output);
  }

  @Test
  void returnedBufferIsNotTouched() throws IOException, InterruptedException {
    environment.put(
        "HEDDLE_SOFT_FAULTS", "duplicate=0.03,reorder=0.03,ghost=0.01,ghost-ms=20,seed=" + seed);
    assertAllPassed(run(2, "lines", "--rounds=400"));
  }

  /* Shows that the tests above fail if a byte is wrong. */
  @ParameterizedTest
  @CsvSource({
    "--spoil-data, 8, its flag was set",
    "--spoil-data, 128, its flag was set",
    "--spoil-late, 8, written again",
    "--spoil-late, 128, written again",
  })
  void findsInjectedFault(String how, int lineBytes, String finding)
      throws IOException, InterruptedException {
    List<String> output =
        run(
            2,
            "lines",
            how,
            "--rounds=30",
            "--timeout-seconds=20",
            "--line-bytes=" + lineBytes,
            "--early");
    String receiver = output.get(1);
    assertTrue(receiver.endsWith("exit code " + WRONG), receiver);
    assertTrue(receiver.contains("seed " + seed + ": ") && receiver.contains(finding), receiver);
  }

  @Test
  void rankAbortsAndRestartsDuringTransfer() throws IOException, InterruptedException {
    assertAllPassed(run(2, "aborts", "--rounds=8"));
  }

  /*
   * The allowed growth of 16 MiB covers the Java heap and compiled code, which grow up to their
   * limits.
   */
  @Test
  void twelveCyclesLeakNothing() throws IOException, InterruptedException {
    List<String> output = run(2, "cycles", "--rounds=12", "--growth-kib=16384");
    assertAllPassed(output);
    assertEquals(12, output.get(0).lines().filter(line -> line.startsWith("cycle ")).count());
  }

  @ParameterizedTest
  @ValueSource(strings = {"spray", "packet"})
  @WholeRunOnly(alwaysRunRows = 1)
  void groupsWithEmptySendsDoNotInterfere(String policy) throws IOException, InterruptedException {
    environment.put("HEDDLE_POLICY", policy);
    assertAllPassed(run(4, "groups", "--rounds=100"));
  }
}
