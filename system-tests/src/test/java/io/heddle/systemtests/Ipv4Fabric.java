package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Set-up of a lab's hosts with one IPv4 address on each plane, in place of their IPv6 addresses.
 */
final class Ipv4Fabric {
  private Ipv4Fabric() {}

  static String address(int rank, int plane) {
    return "10.7." + (plane + 1) + "." + (rank + 1);
  }

  static void renumber(Lab lab, int rank) throws IOException, InterruptedException {
    for (int plane = 0; plane < lab.plan().planes(); plane++) {
      String name = LabPlan.interfaceName(plane);
      on(lab, rank, "ip -6 addr flush dev " + name + " scope global");
      on(lab, rank, "ip addr add " + address(rank, plane) + "/24 dev " + name);
    }
  }

  private static void on(Lab lab, int rank, String words) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(lab.command(rank, List.of(words.split(" "))))
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), words + ": " + output);
  }
}
