package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.cli.kit.Cleanup;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of two processes with many connections to each other, within the plugin's limits. */
@EndsWithin(600)
@SystemTest
final class ManyConnectionsTest {
  private static final long LIMIT_SECONDS = 280;

  /* Timeouts that tolerate a rank that doesn't run for half a second. */
  private static final Map<String, String> PATIENT =
      Map.of("NCCL_IB_TIMEOUT", "18", "HEDDLE_CONNECT_TIMEOUT_MS", "120000");

  @TempDir private Path folder;
  private final ObjectMapper json = new ObjectMapper();

  private List<String> command(int rank, String... more) {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.connections().toString()));
    command.addAll(
        List.of("--plugin", BuildOutputs.plugin().toString(), "--rendezvous", folder.toString()));
    command.addAll(List.of("--rank", Integer.toString(rank)));
    command.addAll(List.of("--timeout-seconds", "120"));
    command.addAll(List.of(more));
    return command;
  }

  /** Returns the event of this name that the output contains first, as JSON. */
  private JsonNode event(String output, String name) throws IOException {
    for (String line : output.split("\n")) {
      if (line.startsWith("{\"event\":\"" + name + "\"")) {
        return json.readTree(line);
      }
    }
    throw new AssertionError("no event " + name + " in:\n" + output);
  }

  private List<String> runBoth(List<String> first, List<String> second)
      throws IOException, InterruptedException {
    return runBoth(PATIENT, first, second);
  }

  private List<String> runBoth(
      Map<String, String> environment, List<String> first, List<String> second)
      throws IOException, InterruptedException {
    return runAll(4, environment, List.of(first, second));
  }

  /* Returns each rank's output. */
  private List<String> runAll(
      int planes, Map<String, String> environment, List<List<String>> commands)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab =
          cleanup.add(Labs.create(Lab.Kind.LOOPBACK, new LabPlan(commands.size(), planes, 9000)));
      List<HostProcess> ranks = new ArrayList<>();
      for (int rank = 0; rank < commands.size(); rank++) {
        Path log = folder.resolve("rank-" + rank + ".log");
        ranks.add(cleanup.add(HostProcess.start(lab, rank, log, environment, commands.get(rank))));
      }
      List<String> output = new ArrayList<>();
      for (HostProcess rank : ranks) {
        int end = rank.exitCode(LIMIT_SECONDS);
        output.add(rank.output());
        assertEquals(0, end, () -> String.join("\n", output));
      }
      return output;
    }
  }

  private void carryTraffic(int connections, int messages)
      throws IOException, InterruptedException {
    String[] options = {
      "--connections", Integer.toString(connections), "--messages", Integer.toString(messages)
    };
    for (String output : runBoth(command(0, options), command(1, options))) {
      JsonNode up = event(output, "up");
      assertEquals(0, up.get("refused").asInt(), output);
      assertEquals(connections, event(output, "closed").get("connections").asInt());
      double each =
          (up.get("descriptors").asInt() - event(output, "first").get("descriptors").asInt())
              / (2.0 * connections);
      /* When the program makes its first report, some descriptors may not be closed yet. */
      assertTrue(each <= 6, each + " descriptors a connection:\n" + output);
      assertNothingStaysOpen(output);
    }
  }

  private void assertNothingStaysOpen(String output) throws IOException {
    assertTrue(
        event(output, "gone").get("descriptors").asInt()
            <= event(output, "first").get("descriptors").asInt(),
        output);
  }

  /*
   * Failovers happen all the time, since every tenth packet is lost and a retry takes a
   * millisecond.
   */
  @Test
  void failoversLeaveNothingOpen() throws IOException, InterruptedException {
    Map<String, String> hasty =
        Map.of(
            "NCCL_IB_TIMEOUT",
            "8",
            "NCCL_IB_RETRY_CNT",
            "1",
            "HEDDLE_GRACE_MS",
            "120000",
            "HEDDLE_SOFT_FAULTS",
            "loss=0.1,seed=" + (System.nanoTime() & Integer.MAX_VALUE));
    String[] options = {"--connections", "32", "--messages", "20"};
    for (String output : runBoth(hasty, command(0, options), command(1, options))) {
      assertTrue(output.contains("moving off"), output);
      assertNothingStaysOpen(output);
    }
  }

  @Test
  @WholeRunOnly
  void carriesTrafficOn64ConnectionsPerDirection() throws IOException, InterruptedException {
    carryTraffic(64, 5);
  }

  @Test
  void threeRanksConnectToEachOther() throws IOException, InterruptedException {
    String[] options = {"--ranks", "3", "--connections", "4", "--messages", "5"};
    List<List<String>> commands =
        List.of(command(0, options), command(1, options), command(2, options));
    for (String output : runAll(4, PATIENT, commands)) {
      assertEquals(8, event(output, "closed").get("connections").asInt(), output);
      assertNothingStaysOpen(output);
    }
  }

  /*
   * With so many queue pairs some timer is always due. A soft device that handled all due timers
   * before it received packets had no time left for the answers, and a queue pair failed in each
   * run.
   */
  @Test
  @WholeRunOnly
  void manyConnectionsOnOnePlaneSurviveBusyProcessors() throws IOException, InterruptedException {
    String[] options = {"--connections", "512", "--messages", "10", "--max-bytes", "8"};
    List<Process> busy = new ArrayList<>();
    try {
      for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
        busy.add(new ProcessBuilder("timeout", "300", "sh", "-c", "while :; do :; done").start());
      }
      List<List<String>> commands = List.of(command(0, options), command(1, options));
      for (String output : runAll(1, Map.of(), commands)) {
        assertFalse(output.contains("moving off"), output);
      }
    } finally {
      busy.forEach(Process::destroy);
    }
  }

  /*
   * With many ranks, messages wait in a rank's sockets for many times a queue pair's timeout. A
   * soft device that took this wait for packet loss failed more than four hundred planes in each
   * run, though no packet was lost.
   */
  @Test
  @WholeRunOnly
  void moreRanksThanProcessorsLoseNoPlane() throws IOException, InterruptedException {
    int ranks = 8 * Runtime.getRuntime().availableProcessors();
    String[] options = {
      "--ranks", Integer.toString(ranks), "--connections", "1", "--messages", "100"
    };
    List<List<String>> commands =
        IntStream.range(0, ranks).mapToObj(rank -> command(rank, options)).toList();
    for (String output : runAll(4, Map.of(), commands)) {
      assertFalse(output.contains("moving off"), output);
    }
  }

  @Test
  void carriesTrafficOn512ConnectionsPerDirection() throws IOException, InterruptedException {
    carryTraffic(512, 1);
  }

  @Test
  void connectionsBeyondDescriptorLimitAreRefusedAndOthersWork()
      throws IOException, InterruptedException {
    String[] options = {
      "--connections", "40", "--messages", "5", "--may-refuse", "--open-files", "240"
    };
    for (String output : runBoth(command(0, options), command(1, options))) {
      int refused = event(output, "up").get("refused").asInt();
      assertTrue(refused > 0 && refused < 80, refused + " of 80 ends are refused:\n" + output);
      assertEquals(refused, event(output, "moved").get("refused").asInt());
      assertTrue(output.contains("all 240 descriptors that this process may have"), output);
    }
  }
}
