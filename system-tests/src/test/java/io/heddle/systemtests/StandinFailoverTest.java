package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.StandinLab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of devices of the stand-in for libibverbs that fail and return while an all-reduce runs
 * over them. Every element is checked.
 */
@EndsWithin(240)
@SystemTest
final class StandinFailoverTest {
  private static final long LIMIT_SECONDS = 60;
  private static final long CARRIED = 1 << 24;

  @TempDir private Path folder;

  /** Job of two ranks that run until the test ends them. */
  private final class Job implements AutoCloseable {
    private final StandinLab hosts;
    private final List<HostProcess> ranks = new ArrayList<>();

    Job(StandinLab hosts, int devices) throws IOException {
      this(hosts, devices, Map.of());
    }

    Job(StandinLab hosts, int devices, Map<String, String> more) throws IOException {
      this.hosts = hosts;
      for (int rank = 0; rank < 2; rank++) {
        List<String> command = HostProcess.allReduce(folder, rank, 2);
        command.addAll(List.of("--devices", Integer.toString(devices)));
        command.addAll(List.of("--min-bytes", "1048576", "--max-bytes", "1048576"));
        command.addAll(List.of("--until", folder.resolve("end").toString()));
        Map<String, String> environment = new HashMap<>(more);
        environment.put("HEDDLE_GRACE_MS", "60000");
        ranks.add(
            HostProcess.start(hosts, rank, folder.resolve(rank + ".log"), environment, command));
      }
    }

    String output() throws IOException {
      return "rank 0:\n" + ranks.get(0).output() + "rank 1:\n" + ranks.get(1).output();
    }

    /** Runs ip on the first host and returns its exit code. */
    int ip(String words) throws IOException, InterruptedException {
      List<String> command = new ArrayList<>(List.of("ip"));
      command.addAll(List.of(words.split(" ")));
      return new ProcessBuilder(hosts.command(0, command)).inheritIO().start().waitFor();
    }

    private void checkAndSleep(String missed, Deadline deadline)
        throws IOException, InterruptedException {
      boolean alive = ranks.get(0).isAlive() && ranks.get(1).isAlive();
      if (!alive || deadline.isOver()) {
        throw new AssertionError(missed + "; " + output());
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }

    void awaitLine(String expression) throws IOException, InterruptedException {
      Pattern pattern = Pattern.compile(expression);
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      while (!pattern.matcher(output()).find()) {
        checkAndSleep("no output matches \"" + expression + "\"", deadline);
      }
    }

    /** Waits until both hosts have sent more bytes from each of these addresses than before. */
    void awaitBytes(int... addresses) throws IOException, InterruptedException {
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      for (int host = 0; host < 2; host++) {
        for (int address : addresses) {
          awaitBytesOf(host, address, deadline);
        }
      }
    }

    private void awaitBytesOf(int host, int address, Deadline deadline)
        throws IOException, InterruptedException {
      long before = hosts.sentBytes(host).get(address);
      while (hosts.sentBytes(host).get(address) - before < CARRIED) {
        checkAndSleep("address " + address + " of host " + host + " carries nothing", deadline);
      }
    }

    void assertEndsCleanly() throws IOException, InterruptedException {
      Files.createFile(folder.resolve("end"));
      for (int rank = 0; rank < 2; rank++) {
        assertEquals(0, ranks.get(rank).exitCode(LIMIT_SECONDS), output());
        assertTrue(
            output().contains("\"event\":\"end\",\"rank\":" + rank + ",\"wrong\":0"), output());
      }
    }

    @Override
    public void close() throws InterruptedException {
      for (HostProcess rank : ranks) {
        rank.close();
      }
    }
  }

  @Test
  void silentAddressFailsOverAndReturns() throws IOException, InterruptedException {
    try (StandinLab hosts = StandinHosts.create(1, 4, folder, Map.of());
        Job job = new Job(hosts, 1)) {
      job.awaitBytes(0, 1, 2, 3);
      hosts.control("cut", "0/0", "2");
      job.awaitLine("moving off plane if:e2 .*RETRY_EXCEEDED");
      job.awaitBytes(0, 2, 3);
      hosts.control("heal", "0/0", "2");
      job.awaitLine("back on plane if:e2 ");
      job.awaitBytes(1);
      job.assertEndsCleanly();
    }
  }

  @Test
  void removedAddressFailsOverAndReturnsAtNewIndex() throws IOException, InterruptedException {
    try (StandinLab hosts = StandinHosts.create(1, 4, folder, Map.of());
        Job job = new Job(hosts, 1)) {
      job.awaitBytes(0, 1, 2, 3);
      hosts.control("gid", "0/0", "3", "none");
      job.awaitLine("moving off plane if:e3 .*GID_CHANGE");
      job.awaitBytes(0, 1);
      hosts.control("gid", "0/0", "7", LabPlan.address(0, 2));
      job.awaitLine("back on plane if:e3 ");
      job.awaitBytes(0, 1, 2, 3);
      job.assertEndsCleanly();
    }
  }

  /*
   * A configured index selects the plane at the start. The plane keeps its address when the index
   * becomes that of another address of its interface.
   */
  @ParameterizedTest
  @ValueSource(strings = {"-1", "2"})
  void addressAtAnotherIndexAfterPortFlapServesOn(String configured)
      throws IOException, InterruptedException {
    String other = "fd02:1::201";
    try (StandinLab hosts = StandinHosts.create(1, 2, folder, Map.of());
        Job job = new Job(hosts, 1, Map.of("NCCL_IB_GID_INDEX", configured))) {
      job.awaitBytes(1);
      assertEquals(0, job.ip("addr add " + other + "/64 nodad dev e2"));
      hosts.control("port", "0/0", "down");
      job.awaitLine("moving off plane if:e2 .*PORT_ERROR");
      hosts.control("gid", "0/0", "7", LabPlan.address(0, 1));
      hosts.control("gid", "0/0", "2", other);
      hosts.control("port", "0/0", "up");
      job.awaitLine("back on plane if:e2 .*" + LabPlan.address(0, 1));
      /* Host 0 has sent from a third entry of its table, host 1 from the same as before. */
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      job.awaitBytesOf(0, 2, deadline);
      job.awaitBytesOf(1, 1, deadline);
      assertFalse(job.output().contains(" takes "), job.output());
      job.assertEndsCleanly();
    }
  }

  /*
   * The new address appears in the GID table later than in the kernel's list of addresses, and at
   * another index.
   */
  @Test
  void planeReturnsAtItsNewAddress() throws IOException, InterruptedException {
    String fresh = "fd03:1::301";
    try (StandinLab hosts = StandinHosts.create(1, 4, folder, Map.of());
        Job job = new Job(hosts, 1)) {
      job.awaitBytes(0, 1, 2, 3);
      assertEquals(0, job.ip("addr add " + fresh + "/64 nodad dev e3"));
      assertEquals(0, job.ip("addr del " + LabPlan.address(0, 2) + "/64 dev e3"));
      hosts.control("gid", "0/0", "3", "none");
      job.awaitLine("moving off plane if:e3 ");
      job.awaitBytes(0, 1);
      hosts.control("gid", "0/0", "7", fresh);
      job.awaitLine(fresh + " on e3 takes the place of its address " + LabPlan.address(0, 2));
      job.awaitLine("back on plane if:e3 \\(" + LabPlan.address(1, 2) + " to " + fresh + "\\)");
      job.awaitBytes(0, 1, 2, 3);
      job.assertEndsCleanly();
    }
  }

  @Test
  void portThatFailsTakesNoPlaneOfItsAdaptersOtherPort() throws IOException, InterruptedException {
    try (StandinLab hosts = StandinHosts.create(2, 1, folder, Map.of("STANDIN_PORTS", "2"));
        Job job = new Job(hosts, 2)) {
      job.awaitBytes(0, 1);
      hosts.control("port", "0/0:2", "down");
      job.awaitLine("moving off plane .* device standin0:2 reports PORT_ERROR");
      hosts.control("port", "0/0:2", "up");
      job.awaitLine("back on plane ");
      job.awaitBytes(0, 1);
      assertFalse(job.output().contains("standin0:1 reports"), job.output());
      job.assertEndsCleanly();
    }
  }

  /*
   * The device has a single port with all its addresses, so it has no plane until the port is up
   * again.
   */
  @Test
  void jobWaitsForDownPort() throws IOException, InterruptedException {
    try (StandinLab hosts = StandinHosts.create(2, 2, folder, Map.of());
        Job job = new Job(hosts, 2)) {
      job.awaitBytes(0, 1, 2, 3);
      hosts.control("port", "0/1", "down");
      job.awaitLine("moving off plane if:e3 .*PORT_ERROR");
      job.awaitLine("moving off plane if:e4 .*PORT_ERROR");
      hosts.control("port", "0/1", "up");
      job.awaitLine("back on plane if:e3 ");
      job.awaitLine("back on plane if:e4 ");
      job.awaitBytes(0, 1, 2, 3);
      job.assertEndsCleanly();
    }
  }
}
