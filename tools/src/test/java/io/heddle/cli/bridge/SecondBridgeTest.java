package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of two real bridges between the same fabrics. Neither bridge's configuration contains the
 * other bridge.
 */
@EndsWithin(120)
@SystemTest
final class SecondBridgeTest {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final int HOST_A = 1;
  private static final int ROW = 50;
  private static final long POLL_NS = 1_000_000;
  private static final long STILL_NS = 100_000_000;

  @TempDir private Path folder;

  @BeforeAll
  static void needNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private Bridge start(TwoFabrics fabrics, int gateway) {
    int last = 254 - gateway;
    return BridgeDemo.inNamespace(
        fabrics.namespace(fabrics.gateway(gateway)),
        BridgeConfigParser.parse(
            "bridge.conf",
            List.of(
                "name = test" + gateway + "\nstatus = " + folder.resolve("status" + gateway),
                "[fabric a]\ninterface = e1\naddress = 10.1.0." + last,
                "[fabric b]\ninterface = e2\naddress = 10.2.0." + last,
                "[group 239.1.1.1]")));
  }

  private BridgeStatus status(int gateway) {
    return BridgeStatus.read(folder.resolve("status" + gateway));
  }

  private boolean isSuspended(int gateway) {
    return status(gateway).groups().getFirst().suspended();
  }

  /* Returns the number of packets that arrived at both bridges in both directions. */
  private long arrived() {
    long sum = 0;
    for (int gateway = 0; gateway < 2; gateway++) {
      for (BridgeStatus.Direction each : status(gateway).groups().getFirst().directions()) {
        sum += each.arrived();
      }
    }
    return sum;
  }

  @Test
  void copiesSuspendGroupAndNothingLoops() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500, 2);
        Bridge first = start(fabrics, 0);
        Bridge second = start(fabrics, 1)) {
      NetworkNamespace.call(
          fabrics.namespace(HOST_A),
          () -> {
            Gid ipv4 = fabrics.address(HOST_A, true);
            try (FabricHost host =
                new FabricHost(HOST_A, "e1", ipv4, fabrics.address(HOST_A, false))) {
              Deadline deadline = Deadline.ofSeconds(60);
              for (long row = 0; !isSuspended(0) && !isSuspended(1); row++) {
                assertFalse(deadline.isOver(), () -> status(0) + " " + status(1));
                for (long i = row * ROW; i < (row + 1) * ROW; i++) {
                  host.send(GROUP, 0, i, 100);
                }
                LockSupport.parkNanos(POLL_NS);
              }
            }
            return true;
          });
      String error = status(isSuspended(0) ? 0 : 1).lastError();
      assertTrue(error.startsWith("storm-guard: group 239.1.1.1 is suspended"), error);
      awaitStill(first, second);
    }
  }

  private void awaitStill(Bridge first, Bridge second) {
    Deadline deadline = Deadline.ofSeconds(30);
    long before = -1;
    for (long now = arrived(); now != before; now = arrived()) {
      assertFalse(
          deadline.isOver(), () -> "packets loop: " + first.describe() + " " + second.describe());
      before = now;
      LockSupport.parkNanos(STILL_NS);
    }
  }
}
