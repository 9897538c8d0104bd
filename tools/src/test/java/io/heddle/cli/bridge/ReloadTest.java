package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.BridgeDemo;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.tools.lab.Lab;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * Test of a bridge whose configuration is reloaded while packets flow, and of rate-limited groups.
 */
@EndsWithin(120)
@SystemTest
class ReloadTest extends BridgedFabrics {
  private static final Gid STAYS = new Gid(0, 0xffff_ef01_0101L);
  private static final Gid COMES = new Gid(0, 0xffff_ef01_0102L);
  private static final long POLL_NS = 1_000_000;

  private BridgeConfig config(String... groups) {
    return config(
        "interface = e1\naddress = 10.1.0.254",
        "interface = e2\naddress = 10.2.0.254",
        List.of(groups));
  }

  private static void send(TwoFabrics fabrics, Gid group, int packets) {
    NetworkNamespace.call(
        fabrics.namespace(HOST_A),
        () -> {
          Gid ipv4 = fabrics.address(HOST_A, true);
          try (FabricHost host =
              new FabricHost(HOST_A, "e1", ipv4, fabrics.address(HOST_A, false))) {
            for (int i = 0; i < packets; i++) {
              host.send(group, 0, i, 100);
            }
          }
          return true;
        });
  }

  @Test
  void reloadChangesGroupsWithoutLossInOthers() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500);
        Bridge bridge = BridgeDemo.inNamespace(fabrics.namespace(0), config("[group 239.1.1.1]"))) {
      /*
       * Group COMES isn't configured yet, so the bridge must ignore its packets. Packets of group
       * STAYS are sent after them. Once these are forwarded, no earlier packet is still on its way.
       */
      send(fabrics, COMES, 10);
      send(fabrics, STAYS, 10);
      await(() -> fromA(0).forwarded() == 10);
      assertEquals(
          "1 groups begin [239.1.1.2], 0 end [], 0 change [], 1 stay as they are",
          bridge.reload(config("[group 239.1.1.1]", "[group 239.1.1.2]")));
      send(fabrics, COMES, 10);
      send(fabrics, STAYS, 10);
      await(() -> fromA(1).forwarded() == 10 && fromA(0).forwarded() == 20);

      /*
       * The rate is so low that on any machine only the first packet leaves before the next reload.
       */
      String slow = "[group 239.1.1.2]\nrate = 1\nburst = 1\nqueue = 5";
      bridge.reload(config("[group 239.1.1.1]", slow));
      send(fabrics, COMES, 100);
      await(() -> fromA(1).arrived() == 110 && settled(fromA(1)) == 110);
      assertTrue(fromA(1).drops().get("queue-full") > 50, fromA(1).toString());
      assertTrue(fromA(1).pending() <= 5, fromA(1).toString());
      send(fabrics, STAYS, 10);
      await(() -> fromA(0).forwarded() == 30);

      bridge.reload(config("[group 239.1.1.1]", "[group 239.1.1.2]"));
      /* A packet leaves the pending count just before it is counted as forwarded. */
      await(() -> fromA(1).pending() == 0 && settled(fromA(1)) == fromA(1).arrived());

      bridge.reload(config("[group 239.1.1.2]"));
      assertEquals(1, status().groups().size());
      assertEquals(4, status().generation());
    }
  }

  @Test
  void refusedReloadKeepsEverything() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500);
        Bridge bridge = BridgeDemo.inNamespace(fabrics.namespace(0), config("[group 239.1.1.1]"))) {
      BridgeConfig other =
          BridgeConfigParser.parse(
              "bridge.conf",
              List.of(
                  "name = test\nstatus = " + folder.resolve("status"),
                  "[fabric a]\ninterface = e9\naddress = 10.1.0.254",
                  "[fabric b]\ninterface = e2\naddress = 10.2.0.254"));
      HeddleException refused = assertThrows(HeddleException.class, () -> bridge.reload(other));
      assertEquals(
          "fabric a's interface is e1 and can't become e9 while the bridge runs: restart it",
          refused.getMessage());
      assertThrows(HeddleException.class, () -> bridge.reload(config("[group ff05::1]")));
      refused =
          assertThrows(HeddleException.class, () -> bridge.reload(config("[unicast]\ntos = 1")));
      assertEquals(
          "unicast is off and can't become mode=same addresses=transparent tos=0x01 while the"
              + " bridge runs: restart it",
          refused.getMessage());
      assertNull(status().unicast());
      send(fabrics, STAYS, 10);
      await(() -> fromA(0).forwarded() == 10);
      assertEquals(0, status().generation());
      assertEquals(1, status().groups().size());
    }
  }

  @Test
  void refusedReloadLeavesGroupsItJoined() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500);
        Bridge bridge =
            BridgeDemo.inNamespace(
                fabrics.namespace(0), config("[group 239.1.1.1]\ndirection = a-to-b"))) {
      assertEquals(1, joined(fabrics, 0, "239.1.1.1"));
      assertThrows(
          HeddleException.class,
          () -> bridge.reload(config("[group 239.1.1.1]", "[group ff05::1]")));
      assertEquals(1, joined(fabrics, 0, "239.1.1.1"));
      assertEquals(0, joined(fabrics, 1, "239.1.1.1"));
    }
  }

  /*
   * Returns the number of the group's entries at the gateway's interface, which is 1 if the gateway
   * is a member.
   */
  private static long joined(TwoFabrics fabrics, int side, String group) {
    String link = TwoFabrics.interfaceName(side);
    return fabrics
        .runAt(0, List.of("ip", "maddr", "show", "dev", link))
        .lines()
        .filter(line -> line.strip().startsWith("inet") && line.strip().endsWith(" " + group))
        .count();
  }

  @Test
  void closesBetweenReloadsAndRefusesTheNextOne() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500)) {
      Bridge bridge = BridgeDemo.inNamespace(fabrics.namespace(0), config("[group 239.1.1.1]"));
      CountDownLatch some = new CountDownLatch(5);
      CompletableFuture<HeddleException> refusal =
          CompletableFuture.supplyAsync(() -> reloadUntilRefused(bridge, some));
      while (some.getCount() > 0 && !refusal.isDone()) {
        LockSupport.parkNanos(POLL_NS);
      }
      bridge.close();
      assertEquals("the bridge is ending", refusal.join().getMessage());
    }
  }

  private HeddleException reloadUntilRefused(Bridge bridge, CountDownLatch some) {
    BridgeConfig one = config("[group 239.1.1.1]");
    BridgeConfig two = config("[group 239.1.1.1]\ndirection = a-to-b", "[group 239.1.1.2]");
    try {
      for (int i = 0; true; i++) {
        bridge.reload(i % 2 == 0 ? two : one);
        some.countDown();
      }
    } catch (HeddleException refused) {
      return refused;
    }
  }

  @Test
  void failedStartReportsRemedy() {
    try (TwoFabrics fabrics = TwoFabrics.create(Lab.Kind.NAMESPACES, 1, 1500)) {
      BridgeConfig wrong =
          BridgeConfigParser.parse(
              "bridge.conf",
              List.of(
                  "name = test\nstatus = " + folder.resolve("status"),
                  "[fabric a]\ninterface = e11",
                  "[fabric b]\ninterface = e2"));
      HeddleException refused =
          assertThrows(
              HeddleException.class, () -> BridgeDemo.inNamespace(fabrics.namespace(0), wrong));
      assertEquals("fabric a: there is no interface e11; did you mean e1?", refused.getMessage());
      try (Bridge first = BridgeDemo.inNamespace(fabrics.namespace(0), config())) {
        assertTrue(first.describe().contains("0 groups"));
        refused =
            assertThrows(
                HeddleException.class,
                () -> BridgeDemo.inNamespace(fabrics.namespace(0), config()));
        assertTrue(refused.getMessage().startsWith("another bridge runs with the status file"));
        BridgeConfig second =
            BridgeConfigParser.parse(
                "bridge.conf",
                List.of(
                    "name = test\nstatus = " + folder.resolve("other"),
                    "[fabric a]\ninterface = e1",
                    "[fabric b]\ninterface = e2"));
        refused =
            assertThrows(
                HeddleException.class, () -> BridgeDemo.inNamespace(fabrics.namespace(0), second));
        assertTrue(
            refused.getMessage().startsWith("UDP port 4791 of e1 is taken"), refused.getMessage());
      }
    }
  }
}
