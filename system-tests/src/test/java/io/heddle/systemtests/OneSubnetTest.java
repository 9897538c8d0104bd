package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of two hosts whose two interfaces are in one subnet. Each plane's bytes leave by the
 * interface with the plane's address, in proportion to the plane's weight.
 */
@EndsWithin(120)
@SystemTest
final class OneSubnetTest {
  private static final long LIMIT_SECONDS = 60;
  private static final int PLANES = 2;
  private static final int HOSTS = 2;
  /*
   * Shell script that creates two hosts, and a third one with a Linux bridge that connects all
   * their interfaces.
   */
  private static final String SETUP_LINES =
      """
      set -e
      ip -n $1-switch link add br0 mtu 9000 type bridge
      ip -n $1-switch link set br0 up
      for host in 0 1; do
        ip -n $1-$host link set lo up
        for plane in 1 2; do
          ip link add e$plane mtu 9000 netns $1-$host type veth peer name h$host-$plane netns $1-switch
          ip -n $1-switch link set h$host-$plane mtu 9000 master br0 up
          ip netns exec $1-$host sh -c "cd /proc/sys/net/ipv4/conf
            for each in all e$plane; do echo 0 > \\$each/rp_filter; done; echo 1 > e$plane/arp_ignore"
          ip -n $1-$host addr add $(printf "$2" $host $plane) dev e$plane $3
          ip -n $1-$host link set e$plane up
        done
      done
      """;

  private final String prefix = "hdos" + ProcessHandle.current().pid();
  private final List<String> namespaces = new ArrayList<>();

  @TempDir private Path folder;

  @BeforeEach
  void addHosts() throws IOException, InterruptedException {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    for (String name : List.of("switch", "0", "1")) {
      NeighbourHost.run("ip", "netns", "add", prefix + "-" + name);
      namespaces.add(prefix + "-" + name);
    }
  }

  @AfterEach
  void removeHosts() throws IOException, InterruptedException {
    for (String namespace : namespaces) {
      NeighbourHost.run("ip", "netns", "del", namespace);
    }
  }

  private HostProcess rank(int rank, String weights, String... more) throws IOException {
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", prefix + "-" + rank));
    command.addAll(
        HostProcess.allReduce(
            folder,
            rank,
            HOSTS,
            "--min-bytes",
            "4194304",
            "--max-bytes",
            "4194304",
            "--iterations",
            "40",
            "--timeout-seconds",
            "30"));
    command.addAll(List.of(more));
    return HostProcess.start(
        command,
        folder.resolve("rank" + rank + ".log"),
        Map.of(
            "HEDDLE_PROVIDER",
            "soft",
            "HEDDLE_ROUTES",
            "none",
            "HEDDLE_WEIGHTS",
            weights,
            "HEDDLE_STATS_DIR",
            folder.toString()));
  }

  /* Returns the bytes sent by a host on a plane's interface. */
  private double sentBytes(int host, int plane) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "ip",
                "netns",
                "exec",
                prefix + "-" + host,
                "grep",
                "e" + plane + ":",
                "/proc/net/dev")
            .start();
    String line = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), line);
    return Long.parseLong(line.strip().split("[: ]+")[9]);
  }

  @ParameterizedTest
  @CsvSource({
    "fd77::%d:%d/64, nodad, 'if:e1=3,if:e2=1', 3",
    "10.77.%d.%d/16, '', '', 1",
  })
  void planesKeepToTheirInterfaces(String addresses, String flag, String weights, double share)
      throws Exception {
    NeighbourHost.run("sh", "-c", SETUP_LINES, "sh", prefix, addresses, flag);
    try (HostProcess first = rank(0, weights);
        HostProcess second = rank(1, weights)) {
      int left = first.exitCode(LIMIT_SECONDS);
      int right = second.exitCode(LIMIT_SECONDS);
      String output = "rank 0:\n" + first.output() + "rank 1:\n" + second.output();
      assertEquals(0, left, output);
      assertEquals(0, right, output);
      assertTrue(output.contains("\"event\":\"end\",\"rank\":0,\"wrong\":0"), output);
      for (int host = 0; host < HOSTS; host++) {
        double one = sentBytes(host, 1);
        double other = sentBytes(host, PLANES);
        assertTrue(
            one / other > 0.8 * share && one / other < 1.25 * share,
            "host " + host + ": " + one + " and " + other + " bytes\n" + output);
      }
    }
  }

  private String doctor(int host) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", prefix + "-" + host));
    command.addAll(HeddleRun.command("doctor", "--json", "--stats", folder.toString()));
    try (HostProcess process =
        HostProcess.start(command, folder.resolve("doctor.log"), Map.of("HEDDLE_ROUTES", "none"))) {
      process.exitCode(LIMIT_SECONDS);
      return process.output();
    }
  }

  /*
   * An operator's route is more specific than the planes' routes, so the kernel and the device
   * follow it.
   */
  @Test
  void doctorNamesPlaneWithWrongOutputInterface() throws Exception {
    NeighbourHost.run("sh", "-c", SETUP_LINES, "sh", prefix, "fd77::%d:%d/64", "nodad");
    NeighbourHost.run("ip", "-n", prefix + "-0", "route", "add", "fd77::1:2/128", "dev", "e1");
    Path stop = folder.resolve("stop");
    try (HostProcess first = rank(0, "", "--until", stop.toString());
        HostProcess second = rank(1, "", "--until", stop.toString())) {
      Deadline deadline = Deadline.ofSeconds(60);
      String straying = doctor(0);
      while (!straying.contains("plane-strays")) {
        assertFalse(deadline.isOver(), straying + first.output());
        straying = doctor(0);
      }
      assertTrue(straying.contains("if:e2"), straying);
      String right = doctor(1);
      assertFalse(right.contains("plane-strays"), right);
      Files.createFile(stop);
      assertEquals(0, first.exitCode(LIMIT_SECONDS), first.output());
      assertEquals(0, second.exitCode(LIMIT_SECONDS), second.output());
    }
  }
}
