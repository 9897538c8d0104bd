package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Test of two real bridges between the same fabrics. Neither bridge's configuration contains the
 * other bridge.
 */
@EndsWithin(120)
@SystemTest
final class SecondBridgeTest extends BridgedFabrics {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final int ROW = 50;
  private static final long STILL_NS = 100_000_000;

  private Bridge startAt(int gateway) {
    int last = 254 - gateway;
    return BridgeDemo.inNamespace(
        fabrics.namespace(fabrics.gateway(gateway)),
        config(
            "name = test" + gateway + "\nstatus = " + folder.resolve("status" + gateway),
            "interface = e1\naddress = 10.1.0." + last,
            "interface = e2\naddress = 10.2.0." + last,
            List.of("[group 239.1.1.1]")));
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
    fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500, 2);
    bridge = startAt(0);
    try (Bridge second = startAt(1)) {
      at(
          HOST_A,
          host -> {
            Deadline deadline = Deadline.ofSeconds(60);
            for (long row = 0; !isSuspended(0) && !isSuspended(1); row++) {
              assertFalse(deadline.isOver(), () -> status(0) + " " + status(1));
              for (long i = row * ROW; i < (row + 1) * ROW; i++) {
                host.send(GROUP, 0, i, 100);
              }
              LockSupport.parkNanos(POLL_NS);
            }
          });
      String error = status(isSuspended(0) ? 0 : 1).lastError();
      assertTrue(error.startsWith("storm-guard: group 239.1.1.1 is suspended"), error);
      awaitStill(second);
    }
  }

  private void awaitStill(Bridge second) {
    Deadline deadline = Deadline.ofSeconds(30);
    long before = -1;
    for (long now = arrived(); now != before; now = arrived()) {
      assertFalse(
          deadline.isOver(), () -> "packets loop: " + bridge.describe() + " " + second.describe());
      before = now;
      LockSupport.parkNanos(STILL_NS);
    }
  }
}
