package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.ThreadAffinity;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.ProcessThreads;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of a bridge that spins on a processor of its own. */
@EndsWithin(60)
@SystemTest
class SpinningTest {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final long POLL_NS = 1_000_000;

  @TempDir private Path folder;

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private BridgeConfig config(String core) {
    return BridgeConfigParser.parse(
        "bridge.conf",
        List.of(
            "name = test\nstatus = " + folder.resolve("status") + core,
            "[fabric a]\ninterface = e1\naddress = 10.1.0.254",
            "[fabric b]\ninterface = e2\naddress = 10.2.0.254",
            "[group 239.1.1.1]"));
  }

  private BridgeStatus.Direction fromA() {
    return BridgeStatus.read(folder.resolve("status")).groups().getFirst().directions().getFirst();
  }

  private static String dataThread() throws IOException {
    return ProcessThreads.read("self", "heddle-bridge-d", "status")
        .orElseThrow(() -> new AssertionError("there is no data thread"));
  }

  private static void send(TwoFabrics fabrics) {
    NetworkNamespace.call(
        fabrics.namespace(1),
        () -> {
          try (FabricHost host =
              new FabricHost(1, "e1", fabrics.address(1, true), fabrics.address(1, false))) {
            assertTrue(host.send(GROUP, 0, 1, 100));
          }
          return true;
        });
  }

  @Test
  void dataThreadStaysOnItsProcessorAndForwards() throws IOException {
    int core = ThreadAffinity.allowed().length() - 1;
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500);
        Bridge bridge = BridgeDemo.inNamespace(fabrics.namespace(0), config("\ncore = " + core))) {
      assertTrue(bridge.describe().contains("spins on processor " + core), bridge.describe());
      send(fabrics);
      Deadline deadline = Deadline.ofSeconds(20);
      while (fromA().forwarded() == 0) {
        assertFalse(deadline.isOver(), () -> fromA() + " within " + deadline);
        LockSupport.parkNanos(POLL_NS);
      }
      assertTrue(dataThread().contains("\nCpus_allowed_list:\t" + core + "\n"), dataThread());
      HeddleException refused =
          assertThrows(HeddleException.class, () -> bridge.reload(config("")));
      assertEquals(
          "core is " + core + " and can't become off while the bridge runs: restart it",
          refused.getMessage());
    }
  }

  @Test
  void rejectsAbsentProcessor() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500)) {
      HeddleException refused =
          assertThrows(
              HeddleException.class,
              () -> BridgeDemo.inNamespace(fabrics.namespace(0), config("\ncore = 8000")));
      assertTrue(
          String.valueOf(refused.getMessage())
              .startsWith(
                  "core = 8000 isn't a processor that the bridge may run on; allowed are {"),
          refused.getMessage());
    }
  }
}
