package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of demos whose planes fail, with the real plugin and every element checked. The hosts have
 * no interfaces except the planes', so the control channels run over one of the planes that are
 * cut.
 */
@EndsWithin(300)
final class FailoverDemoTest {
  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private static void filter(String namespace, String words)
      throws IOException, InterruptedException {
    run("ip", "netns", "exec", namespace, "nft", words);
  }

  private static void run(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), command + ": " + output);
  }

  @Test
  void noElementIsLostBySilentCutOrLostCarrier() throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      List<String> hosts = demo.process().namespaces();
      /* Cuts e1, the plane over which the control channels run. */
      filter(hosts.getFirst(), "add table inet cut");
      filter(hosts.getFirst(), "add chain inet cut in { type filter hook input priority 0; }");
      filter(hosts.getFirst(), "add rule inet cut in iifname e1 drop");
      awaitFailovers(demo, 1);
      run("ip", "-n", hosts.getLast(), "link", "set", "e2", "down");
      awaitFailovers(demo, 2);
      filter(hosts.getFirst(), "delete table inet cut");
      demo.assertAllRight();
    }
  }

  @Test
  @WholeRunOnly
  void queuePairOverAllPlanesAvoidsCutPlaneUntilItReturns()
      throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder, "packet")) {
      List<String> hosts = demo.process().namespaces();
      filter(hosts.getFirst(), "add table inet cut");
      filter(hosts.getFirst(), "add chain inet cut in { type filter hook input priority 0; }");
      filter(hosts.getFirst(), "add rule inet cut in iifname e2 drop");
      awaitFailovers(demo, 1, 1);
      demo.awaitSent("if:e1", 1 << 26);
      filter(hosts.getFirst(), "delete table inet cut");
      demo.awaitSent("if:e2", 1 << 24);
      demo.assertAllRight();
    }
  }

  /*
   * Waits until both ends of both connections have failed over from each of these planes: four
   * failovers for each plane.
   */
  private static void awaitFailovers(BusyDemo demo, int planes)
      throws IOException, InterruptedException {
    awaitFailovers(demo, planes, 4);
  }

  private static void awaitFailovers(BusyDemo demo, int planes, int ends)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    while (demo.failovers() < (long) ends * planes) {
      assertTrue(
          !deadline.isOver(),
          () -> demo.failovers() + " failovers in 60 s: " + demo.process().outputOrWhyNot());
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }
}
