package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.bridge.TwoFabrics;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of a bridge whose configuration is reloaded while packets flow, and of rate-limited groups.
 */
@EndsWithin(120)
@SystemTest
class ReloadTest extends BridgedFabrics {
  private static final Gid STAYS = new Gid(0, 0xffff_ef01_0101L);
  private static final Gid COMES = new Gid(0, 0xffff_ef01_0102L);

  @BeforeEach
  void setUp() {
    open(1500);
  }

  @Test
  void reloadChangesGroupsWithoutLossInOthers() {
    start(config("[group 239.1.1.1]"));
    /*
     * Group COMES isn't configured yet, so the bridge must ignore its packets. Packets of group
     * STAYS are sent after them. Once these are forwarded, no earlier packet is still on its way.
     */
    sendFrom(HOST_A, COMES, 10);
    sendFrom(HOST_A, STAYS, 10);
    await(() -> fromA(0).forwarded() == 10);
    assertEquals(
        "[group 239.1.1.2] begins; unchanged sections: 3",
        bridge.reload(config("[group 239.1.1.1]", "[group 239.1.1.2]")));
    sendFrom(HOST_A, COMES, 10);
    sendFrom(HOST_A, STAYS, 10);
    await(() -> fromA(1).forwarded() == 10 && fromA(0).forwarded() == 20);

    /*
     * The rate is so low that on any machine only the first packet leaves before the next reload.
     */
    String slow = "[group 239.1.1.2]\nrate = 1\nburst = 1\nqueue = 5";
    bridge.reload(config("[group 239.1.1.1]", slow));
    sendFrom(HOST_A, COMES, 100);
    await(() -> fromA(1).arrived() == 110 && settled(fromA(1)) == 110);
    assertTrue(fromA(1).drops().get("queue-full") > 50, fromA(1).toString());
    assertTrue(fromA(1).pending() <= 5, fromA(1).toString());
    sendFrom(HOST_A, STAYS, 10);
    await(() -> fromA(0).forwarded() == 30);

    bridge.reload(config("[group 239.1.1.1]", "[group 239.1.1.2]"));
    /* A packet leaves the pending count just before it is counted as forwarded. */
    await(() -> fromA(1).pending() == 0 && settled(fromA(1)) == fromA(1).arrived());

    bridge.reload(config("[group 239.1.1.2]"));
    assertEquals(1, status().groups().size());
    assertEquals(4, status().generation());
  }

  @Test
  void refusedReloadKeepsEverything() {
    start(config("[group 239.1.1.1]"));
    BridgeConfig other =
        config(
            "interface = e9\naddress = 10.1.0.254",
            "interface = e2\naddress = 10.2.0.254",
            List.of());
    HeddleException refused = assertThrows(HeddleException.class, () -> bridge.reload(other));
    assertEquals(
        "interface of [fabric a] is e1 and can't become e9 while the daemon runs: restart it",
        refused.getMessage());
    assertThrows(HeddleException.class, () -> bridge.reload(config("[group ff05::1]")));
    refused =
        assertThrows(HeddleException.class, () -> bridge.reload(config("[unicast]\ntos = 1")));
    assertEquals("[unicast] can't begin while the daemon runs: restart it", refused.getMessage());
    assertNull(status().unicast());
    sendFrom(HOST_A, STAYS, 10);
    await(() -> fromA(0).forwarded() == 10);
    assertEquals(0, status().generation());
    assertEquals(1, status().groups().size());
  }

  @Test
  void refusedReloadLeavesGroupsItJoined() {
    start(config("[group 239.1.1.1]\ndirection = a-to-b"));
    assertEquals(1, joined(0, "239.1.1.1"));
    assertThrows(
        HeddleException.class, () -> bridge.reload(config("[group 239.1.1.1]", "[group ff05::1]")));
    assertEquals(1, joined(0, "239.1.1.1"));
    assertEquals(0, joined(1, "239.1.1.1"));
  }

  /*
   * Returns the number of the group's entries at the gateway's interface, which is 1 if the gateway
   * is a member.
   */
  private long joined(int side, String group) {
    String link = TwoFabrics.interfaceName(side);
    return fabrics
        .runAt(0, List.of("ip", "maddr", "show", "dev", link))
        .lines()
        .filter(line -> line.strip().startsWith("inet") && line.strip().endsWith(" " + group))
        .count();
  }

  @Test
  void closesBetweenReloadsAndRefusesTheNextOne() {
    start(config("[group 239.1.1.1]"));
    CountDownLatch some = new CountDownLatch(5);
    CompletableFuture<HeddleException> refusal =
        CompletableFuture.supplyAsync(() -> reloadUntilRefused(some));
    await(() -> some.getCount() == 0 || refusal.isDone());
    bridge.close();
    assertEquals("the bridge is ending", refusal.join().getMessage());
  }

  private HeddleException reloadUntilRefused(CountDownLatch some) {
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
    BridgeConfig wrong = config("interface = e11", "interface = e2", List.of());
    HeddleException refused = assertThrows(HeddleException.class, () -> start(wrong));
    assertEquals("fabric a: there is no interface e11; did you mean e1?", refused.getMessage());
    start(config());
    assertTrue(bridge.describe().contains("0 groups"));
    refused = assertThrows(HeddleException.class, () -> start(config()));
    assertTrue(refused.getMessage().startsWith("another bridge runs with the status file"));
    BridgeConfig second =
        config(
            "name = test\nstatus = " + folder.resolve("other"),
            "interface = e1",
            "interface = e2",
            List.of());
    refused = assertThrows(HeddleException.class, () -> start(second));
    assertTrue(
        refused.getMessage().startsWith("UDP port 4791 of e1 is taken"), refused.getMessage());
  }
}
