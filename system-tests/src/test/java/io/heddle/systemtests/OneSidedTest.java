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
import io.heddle.tools.lab.StandinLab;
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

/**
 * Tests of the plugin's tables for NCCL's one-sided operations, by a C program. Processes on
 * separate hosts write to each other, and a thread of each process checks the bytes when their
 * signal has arrived.
 */
@EndsWithin(300)
@SystemTest
final class OneSidedTest {
  private static final long LIMIT_SECONDS = 270;

  @TempDir private Path folder;
  private final long seed = System.nanoTime() & Integer.MAX_VALUE;
  private final Map<String, String> environment = new HashMap<>();

  /** Runs this many ranks. Returns the output of each, with the exit code as the last line. */
  private List<String> run(int ranks, String... more) throws IOException, InterruptedException {
    Skip.unless(Lab.Kind.NAMESPACES);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(ranks, ranks > 2 ? 2 : 4, 9000))) {
      return run(lab, ranks, more);
    }
  }

  private List<String> run(Lab lab, int ranks, String... more)
      throws IOException, InterruptedException {
    System.out.println("seed " + seed);
    environment.putIfAbsent("HEDDLE_ONE_SIDED", "1");
    /*
     * With timeout code 18, a queue pair waits one second before each retry. So a process that
     * waits for a processor doesn't look like a failed plane.
     */
    environment.putIfAbsent("NCCL_IB_TIMEOUT", "18");
    Path meeting = Files.createDirectory(folder.resolve("meeting"));
    List<HostProcess> processes = new ArrayList<>();
    List<String> output = new ArrayList<>();
    try {
      for (int rank = 0; rank < ranks; rank++) {
        Path log = folder.resolve("rank" + rank + ".log");
        List<String> command = command(meeting, rank, ranks, more);
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
    return output;
  }

  private List<String> command(Path meeting, int rank, int ranks, String... more) {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.oneSided().toString()));
    command.addAll(List.of("--plugin", BuildOutputs.plugin().toString()));
    command.addAll(List.of("--rendezvous", meeting.toString(), "--seed", Long.toString(seed)));
    command.addAll(List.of("--rank", Integer.toString(rank), "--ranks", Integer.toString(ranks)));
    command.addAll(List.of("--timeout-seconds", "120"));
    command.addAll(List.of(more));
    return command;
  }

  private static void assertAllPassed(List<String> output) {
    output.forEach(
        each -> assertTrue(each.endsWith("exit code 0"), () -> String.join("\n---\n", output)));
  }

  @ParameterizedTest
  @CsvSource({
    /* columns: table, ranks, contexts, operations, largest put */
    "ncclRmaPlugin_v14, 2, 4, 60, 200000",
    "ncclRmaPlugin_v13, 2, 2, 40, 5000",
    "ncclGinPlugin_v13, 2, 2, 40, 5000",
    "ncclRmaPlugin_v14, 1, 2, 40, 70000",
    "ncclRmaPlugin_v14, 4, 2, 16, 20000",
    "ncclRmaPlugin_v14, 8, 1, 6, 9000",
    "ncclRmaPlugin_v14, 2, 64, 4, 3000",
    "ncclRmaPlugin_v14, 2, 1, 5, 8000000",
  })
  @WholeRunOnly(alwaysRunRows = {1, 3, 5, 7})
  void noSignalIsSeenBeforeItsData(
      String table, int ranks, int contexts, int operations, int maxBytes)
      throws IOException, InterruptedException {
    assertAllPassed(
        run(
            ranks,
            "--table=" + table,
            "--contexts=" + contexts,
            "--operations=" + operations,
            "--max-bytes=" + maxBytes));
  }

  /*
   * Failovers happen all the time, since every tenth packet is lost and a retry takes a
   * millisecond.
   */
  @Test
  void failingPlanesLoseNoSignal() throws IOException, InterruptedException {
    environment.put("NCCL_IB_TIMEOUT", "8");
    environment.put("NCCL_IB_RETRY_CNT", "1");
    environment.put("HEDDLE_GRACE_MS", "120000");
    environment.put("HEDDLE_SOFT_FAULTS", "loss=0.1,seed=" + seed);
    assertAllPassed(run(2, "--contexts=4", "--operations=40", "--max-bytes=60000"));
  }

  /*
   * Peers read each other's registrations by RDMA, which queue pairs under the spray policy
   * "packet" don't permit. So one-sided operations get a queue pair for each plane even under that
   * policy.
   */
  @Test
  void packetPolicyStillCreatesAQueuePairPerPlane() throws IOException, InterruptedException {
    environment.put("HEDDLE_POLICY", "packet");
    assertAllPassed(run(2, "--contexts=2", "--operations=30", "--max-bytes=60000"));
  }

  @Test
  void verbsDevicesCarryPuts() throws IOException, InterruptedException {
    try (StandinLab hosts = StandinHosts.create(1, 4, folder, Map.of())) {
      assertAllPassed(run(hosts, 2, "--contexts=4", "--operations=60", "--max-bytes=300000"));
      for (int host = 0; host < 2; host++) {
        List<Long> sent = hosts.sentBytes(host);
        long least = sent.stream().mapToLong(Long::longValue).min().orElseThrow();
        long most = sent.stream().mapToLong(Long::longValue).max().orElseThrow();
        assertTrue(least > 0.8 * most, "host " + host + ": " + sent);
      }
    }
  }

  /*
   * Device memory has no pages behind its address, so an access by the processor kills the process.
   */
  @Test
  void onlyAdapterAccessesDeviceMemory() throws IOException, InterruptedException {
    Map<String, String> dmaBufs = Map.of("STANDIN_DMABUF", "1");
    try (StandinLab hosts = StandinHosts.create(1, 4, folder, dmaBufs)) {
      assertAllPassed(
          run(hosts, 2, "--contexts=4", "--operations=60", "--max-bytes=100000", "--on-devices"));
    }
  }

  @Test
  void refusesGpuMemoryWithoutDmaBuf() throws IOException, InterruptedException {
    for (String each : run(1, "--operations=2", "--contexts=1", "--verbose")) {
      assertTrue(each.endsWith("exit code 0"), each);
      assertTrue(each.contains("(type 2 of NCCL's) by its dma-buf only"), each);
      assertTrue(each.contains("soft0, host memory only"), each);
    }
  }

  /*
   * Both ranks get a wrong byte. The first rank that finds it ends, so the other rank may report
   * the loss of its peer instead.
   */
  @Test
  void checkerFindsWrongByte() throws IOException, InterruptedException {
    List<String> output = run(2, "--operations=40", "--contexts=1", "--spoil");
    String all = String.join("\n---\n", output);
    assertTrue(
        output.stream()
            .anyMatch(each ->
                each.contains("its signal is there, and byte") && each.endsWith("exit code 1")),
        all);
    assertTrue(output.stream().noneMatch(each -> each.endsWith("exit code 0")), all);
  }

  @Test
  void disabledTablesRefuseWithReason() throws IOException, InterruptedException {
    environment.put("HEDDLE_ONE_SIDED", "0");
    String output = run(1, "--operations=1", "--verbose").getFirst();
    assertTrue(output.contains("HEDDLE_ONE_SIDED=1 enables them"), output);
    assertEquals("exit code 3", output.substring(output.lastIndexOf('\n') + 1), output);
  }
}
