package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.Bridge;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of a bridge whose interface changes. Each packet is counted, each fault is reported, and
 * packets flow again afterwards. Another test sends ten times a group's rate limit.
 */
@EndsWithin(120)
@SystemTest
class LinkFaultsTest extends BridgedFabrics {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final Gid GROUP6 = new Gid(0xff05L << 48, 0x1_0001L);
  private static final Gid LIMITED = new Gid(0, 0xffff_ef01_0102L);
  private static final int ROW = 10;

  @BeforeEach
  void setUp() {
    open(1500);
    start(
        config(
            "interface = e1\naddress = 10.1.0.254,fd01::254\ntrains = yes",
            "interface = e2\naddress = 10.2.0.254,fd02::254\ntrains = yes",
            List.of(
                "[group 239.1.1.1]",
                "[group ff05::1:1]",
                "[group 239.1.1.2]\nrate = 500\nburst = 1\nqueue = 20")));
  }

  /**
   * Sends a segment train and waits until each of its packets was forwarded or dropped. Returns the
   * counts.
   */
  private BridgeStatus.Direction send(int group, Gid address, int payloadBytes) {
    long before = settled(fromA(group));
    at(HOST_A, host -> assertTrue(host.sendTrain(address, group, before, ROW, payloadBytes)));
    await(() -> settled(fromA(group)) == before + ROW);
    return fromA(group);
  }

  private void ip(String... words) {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    fabrics.runAt(0, command);
  }

  private void awaitReport(String error) {
    await(() -> status().lastError().equals(error));
  }

  @Test
  void joinsAndMonitorsInterfacesInOtherNamespace() {
    bridge.close();
    String namespace = "\nnamespace = " + fabrics.namespace(0);
    String a = "interface = e1\naddress = 10.1.0.254,fd01::254\ntrains = yes" + namespace;
    String b = "interface = e2\naddress = 10.2.0.254,fd02::254" + namespace;
    BridgeConfig config = config(a, b, List.of("[group 239.1.1.1]"));
    bridge = Bridge.start(config, Path.of("bridge.conf"), (level, sentence) -> {}, () -> {});
    assertEquals(ROW, send(0, GROUP, 1000).forwarded());
    bridge.reload(config(a, b, List.of("[group 239.1.1.1]", "[group 239.1.1.2]")));
    assertEquals(ROW, send(1, new Gid(0, GROUP.low() + 1), 1000).forwarded());
    ip("link", "set", "e2", "mtu", "1280");
    awaitReport("fabric b: the MTU is 1280 and was 1500");
  }

  @Test
  void followsMtuDownAndUpAgain() {
    assertEquals(ROW, send(0, GROUP, 1000).forwarded());
    ip("link", "set", "e2", "mtu", "1280");
    awaitReport("fabric b: the MTU is 1280 and was 1500");
    assertEquals(Map.of("too-large", (long) ROW), send(0, GROUP, 1300).drops());
    assertEquals(2 * ROW, send(0, GROUP, 1000).forwarded());
    ip("link", "set", "e2", "mtu", "1500");
    awaitReport("fabric b: all is as it was at the start again");
    assertEquals(3 * ROW, send(0, GROUP, 1300).forwarded());
    assertEquals(0, status().fabrics().getLast().trainsRefused());
  }

  @Test
  void trainsResumeWhenAddressReturns() {
    assertEquals(ROW, send(0, GROUP, 500).forwarded());
    ip("addr", "del", "10.2.0.254/24", "dev", "e2");
    awaitReport("fabric b: address 10.2.0.254 is gone");
    assertEquals(Map.of("not-sent", (long) ROW), send(0, GROUP, 500).drops());
    assertEquals(ROW, send(1, GROUP6, 500).forwarded(), "the other version of IP still flows");
    ip("addr", "add", "10.2.0.254/24", "dev", "e2");
    awaitReport("fabric b: all is as it was at the start again");
    long messages = status().fabrics().getLast().sentMessages();
    assertEquals(2 * ROW, send(0, GROUP, 500).forwarded());
    assertEquals(0, status().fabrics().getLast().trainsRefused());
    assertTrue(
        status().fabrics().getLast().sentMessages() - messages < ROW, "they leave as trains again");
  }

  @Test
  void countsDropsWhileInterfaceIsDownAndRecovers() {
    assertEquals(ROW, send(0, GROUP, 500).forwarded());
    ip("link", "set", "e2", "down");
    await(() -> status().lastError().startsWith("fabric b: e2 has no link"));
    assertEquals(Map.of("not-sent", (long) ROW), send(0, GROUP, 500).drops());
    ip("link", "set", "e2", "up");
    ip("addr", "replace", "fd02::254/64", "dev", "e2", "nodad");
    awaitReport("fabric b: all is as it was at the start again");
    assertEquals(2 * ROW, send(0, GROUP, 500).forwarded());
  }

  @Test
  void tenfoldOverloadIsCountedAndHarmsNoOtherGroup() {
    int packets = 5_000;
    long startNs = System.nanoTime();
    at(
        HOST_A,
        host -> {
          for (int i = 0; i < packets; i++) {
            while (!host.send(LIMITED, 2, i, 100)) {
              LockSupport.parkNanos(POLL_NS);
            }
            if (i % 10 == 0) {
              while (!host.send(GROUP, 0, i, 100)) {
                LockSupport.parkNanos(POLL_NS);
              }
            }
          }
        });
    double offered = packets / ((System.nanoTime() - startNs) / 1e9);
    await(() -> fromA(2).arrived() == packets && settled(fromA(2)) == packets);
    BridgeStatus.Direction limited = fromA(2);
    assertTrue(limited.pending() <= 20, limited.toString());
    assertEquals(limited.dropped(), limited.drops().get("queue-full"), limited.toString());
    if (offered >= 5_000) {
      assertTrue(limited.dropped() > packets / 2, offered + " a second: " + limited);
    }
    await(() -> settled(fromA(0)) == packets / 10);
    assertEquals(packets / 10, fromA(0).forwarded());
    assertEquals(0, status().fabrics().getFirst().kernelQueueFull());
    await(() -> fromA(2).pending() == 0);
    assertEquals(packets, fromA(2).forwarded() + fromA(2).dropped());
  }
}
