package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
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
import java.util.Locale;
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
  private static final String SWITCH = "switch";
  private static final String[] SETTINGS = {
    "net.ipv4.conf.all.rp_filter=0",
    "net.ipv4.conf.default.rp_filter=0",
    "net.ipv4.conf.default.arp_ignore=1"
  };

  private NetworkNamespaces net;

  @TempDir private Path folder;

  @BeforeEach
  void requireParts() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  /*
   * Creates two hosts, and a third one with a Linux bridge that connects all their interfaces.
   *
   * @param addresses format of the addresses, by host and plane
   */
  private void connect(String addresses) {
    NetworkTopology topology =
        NetworkTopology.of(SWITCH)
            .ip(SWITCH, "link add br0 mtu 9000 type bridge", "link set br0 up");
    for (int host = 0; host < HOSTS; host++) {
      String name = Integer.toString(host);
      topology.node(name, SETTINGS);
      for (int plane = 1; plane <= PLANES; plane++) {
        String port = "h" + host + "-" + plane;
        topology
            .link(name + " e" + plane + " mtu 9000", SWITCH + " " + port + " mtu 9000")
            .ip(SWITCH, "link set " + port + " master br0")
            .address(name, "e" + plane, String.format(Locale.ROOT, addresses, host, plane));
      }
    }
    net = topology.create();
  }

  @AfterEach
  void removeHosts() {
    if (net != null) {
      net.close();
    }
  }

  private NetworkNamespace host(int host) {
    return net.node(Integer.toString(host));
  }

  private HostProcess rank(int rank, String weights, String... more) throws IOException {
    List<String> command =
        new ArrayList<>(
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
        host(rank).command(command),
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
  private double sentBytes(int host, int plane) {
    String line = host(host).run("grep", "e" + plane + ":", "/proc/net/dev");
    return Long.parseLong(line.strip().split("[: ]+")[9]);
  }

  @ParameterizedTest
  @CsvSource({
    "fd77::%d:%d/64, 'if:e1=3,if:e2=1', 3",
    "10.77.%d.%d/16, '', 1",
  })
  void planesKeepToTheirInterfaces(String addresses, String weights, double share)
      throws Exception {
    connect(addresses);
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
    List<String> command =
        host(host).command(HeddleRun.command("doctor", "--json", "--stats", folder.toString()));
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
    connect("fd77::%d:%d/64");
    host(0).ip("route add fd77::1:2/128 dev e1");
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
