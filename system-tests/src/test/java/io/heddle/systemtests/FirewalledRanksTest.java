package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.RocePorts;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Test of several ranks on each of two hosts, behind firewalls that admit only the documented
 * traffic.
 */
@EndsWithin(300)
@SystemTest
final class FirewalledRanksTest {
  private static final long LIMIT_SECONDS = 120;

  @TempDir private Path folder;

  @BeforeEach
  void assumeFirewall() throws InterruptedException {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    try {
      assertEquals(0, new ProcessBuilder("nft", "--version").start().waitFor());
    } catch (IOException absent) {
      Skip.because("no nft here: " + absent.getMessage());
    }
  }

  private static void allowPorts(Lab lab, int host, String ports) {
    String rules =
        """
        table inet firewall {
          chain in {
            type filter hook input priority 0; policy accept
            iif lo accept
            meta l4proto { tcp, ipv6-icmp } accept
            udp dport %s accept
            meta l4proto udp counter drop
          }
        }
        """
            .formatted(ports);
    Shell.run(lab.command(host, List.of("nft", "-f", "-")), rules);
  }

  private HostProcess rank(Lab lab, int host, int rank, int ranks, String... more)
      throws IOException {
    List<String> options = new ArrayList<>(List.of("--min-bytes", "65536", "--max-bytes", "65536"));
    options.addAll(List.of(more));
    return HostProcess.start(
        lab,
        host,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft", "HEDDLE_GRACE_MS", "2000"),
        HostProcess.allReduce(folder, rank, ranks, options.toArray(String[]::new)));
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 16})
  @WholeRunOnly(alwaysRunRows = 1)
  void ranksOfOneHostShareTheDocumentedPorts(int ranksPerHost) throws Exception {
    int ranks = 2 * ranksPerHost;
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 2, 9000))) {
      allowPorts(lab, 0, RocePorts.STANDARD.toString());
      allowPorts(lab, 1, RocePorts.STANDARD.toString());
      List<HostProcess> processes = new ArrayList<>();
      try {
        for (int rank = 0; rank < ranks; rank++) {
          processes.add(
              rank(lab, rank % 2, rank, ranks, "--iterations", "5", "--timeout-seconds", "100"));
        }
        for (HostProcess process : processes) {
          assertEquals(0, process.exitCode(LIMIT_SECONDS), process.output());
        }
      } finally {
        for (HostProcess process : processes) {
          process.close();
        }
      }
    }
  }

  @Test
  void errorOfBlockedPortNamesIt() throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000))) {
      allowPorts(lab, 1, "4792-4854");
      try (HostProcess first = rank(lab, 0, 0, 2, "--timeout-seconds", "30");
          HostProcess second = rank(lab, 1, 1, 2, "--timeout-seconds", "30")) {
        first.exitCode(LIMIT_SECONDS);
        second.exitCode(LIMIT_SECONDS);
        String output = first.output() + second.output();
        assertTrue(output.contains("answered on no plane"), output);
        assertTrue(output.contains("packets went to UDP port 4791 of "), output);
        assertTrue(output.contains("let all of UDP 4791-4854 in (HEDDLE_PORTS)"), output);
      }
    }
  }
}
