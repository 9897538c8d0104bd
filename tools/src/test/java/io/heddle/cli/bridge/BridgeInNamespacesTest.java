package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.Gid;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Test of a bridge between two fabrics of one host each, with packets of every kind. */
@EndsWithin(120)
@SystemTest
class BridgeInNamespacesTest extends BridgedFabrics {
  private static final Gid GROUP = new Gid(0, 0xffff_ef01_0101L);
  private static final Gid GROUP6 = new Gid(0xff05L << 48, 0x1_0001L);
  private static final int MTU = 4200;
  private static final int ROW = 120;
  private static final int ROWS = 20;

  @BeforeEach
  void setUp() {
    open(MTU);
  }

  private void start(String... more) {
    start(
        config(
            "interface = e1\naddress = 10.1.0.254,fd01::254\ntrains = yes",
            "interface = e2\naddress = 10.2.0.254,fd02::254\ntrains = yes",
            List.of(more)));
  }

  private void atMember(int host, Consumer<FabricHost> what) {
    atMember(host, fabrics.address(host, true), what);
  }

  private void atMember(int host, Gid source, Consumer<FabricHost> what) {
    at(host, source, List.of(GROUP, GROUP6), what);
  }

  private void awaitArrived(int group, int from, long packets) {
    await(() -> settled(direction(group, from)) >= packets);
  }

  private static void spoil(FabricHost host, int at, int value) {
    Memory.ALL.set(ValueLayout.JAVA_BYTE, host.packet() + at, (byte) value);
  }

  @Test
  void countsEveryDropUnderItsReason() {
    Gid foreign = new Gid(0, 0xffff_c0a8_0907L);
    Gid gateway = new Gid(0, 0xffff_0a01_00feL);
    Gid peer = new Gid(0, 0xffff_0a01_00fdL);
    for (String address : List.of("192.168.9.7", "10.1.0.254", "10.1.0.253")) {
      fabrics.runAt(HOST_A, List.of("ip", "addr", "add", address + "/32", "dev", "e1"));
    }
    /*
     * The kernel would drop packets from the gateway's own address, though a device with its own
     * stack wouldn't. This setting lets these packets reach the bridge.
     */
    fabrics.runAt(0, List.of("sysctl", "-qw", "net.ipv4.conf.e1.accept_local=1"));
    fabrics.runAt(0, List.of("ip", "link", "set", "e2", "mtu", "1500"));
    start("[group 239.1.1.1]", "[peer 10.1.0.253]", "[group ff05::1:1]\ndirection = a-to-b");
    atMember(
        HOST_A,
        host -> {
          int length = host.build(host.packet(), GROUP, 0, 1, 100, 0);
          spoil(host, 30, 0x55);
          host.sendRaw(GROUP, length, 0);
          host.build(host.packet(), GROUP, 0, 2, 100, 0);
          spoil(host, 0, 0x04);
          host.sendRaw(GROUP, length, 0);
          host.build(host.packet(), GROUP, 0, 3, 100, 0);
          host.sendRaw(GROUP, length - 1, 0);
          host.build(host.packet(), GROUP, 0, 4, 100, 0);
          spoil(host, 7, 0x11);
          host.writeCrc(host.packet(), GROUP, length - 4, 0);
          host.sendRaw(GROUP, length, 0);
          host.send(GROUP, 0, 5, 2000);
          host.send(GROUP, 0, 6, 1000);
        });
    atMember(HOST_A, foreign, host -> host.send(GROUP, 0, 7, 100));
    atMember(HOST_A, gateway, host -> host.send(GROUP, 0, 8, 100));
    atMember(HOST_A, peer, host -> host.send(GROUP, 0, 9, 100));
    awaitArrived(0, 0, 9);
    Map<String, Long> expected = new TreeMap<>();
    expected.put("bad-checksum", 1L);
    expected.put("malformed", 2L);
    expected.put("not-multicast", 1L);
    expected.put("too-large", 1L);
    expected.put("foreign-source", 1L);
    expected.put("own-source", 1L);
    expected.put("known-bridge", 1L);
    assertEquals(expected, direction(0, 0).drops());
    assertEquals(1, direction(0, 0).forwarded());
    atMember(HOST_A, host -> host.sendRaw(GROUP, 0, 0));
    await(() -> status().fabrics().getFirst().empty() > 0);
    atMember(HOST_B, host -> host.send(GROUP6, 1, 1, 100));
    /*
     * The direction isn't forwarded, so the bridge didn't join the group there. The kernel still
     * delivers the packet to the other hosts of the fabric.
     */
    atMember(HOST_A, host -> host.send(GROUP6, 1, 2, 100));
    awaitArrived(1, 0, 1);
    assertEquals(1, direction(1, 0).forwarded());
    assertEquals(0, direction(1, 1).forwarded());
  }

  @Test
  void returnedCopiesSuspendGroup() {
    start("[group 239.1.1.1]", "[group ff05::1:1]");
    /*
     * Only copies that arrive within 100 ms of their packets count, and a slow machine may delay
     * copies. So packets and copies are sent until enough copies have counted.
     */
    atMember(
        HOST_A,
        a ->
            atMember(
                HOST_B,
                b -> {
                  b.copyOf(HOST_A);
                  Deadline deadline = Deadline.ofSeconds(60);
                  for (long first = 0; !status().groups().getFirst().suspended(); first += ROW) {
                    assertFalse(deadline.isOver(), () -> status() + " within " + deadline);
                    long back = direction(0, 1).arrived();
                    long on = direction(0, 0).arrived();
                    for (long i = first; i < first + ROW; i += ROW / 4) {
                      a.sendTrain(GROUP, 0, i, ROW / 4, 64);
                    }
                    awaitArrived(0, 0, on + ROW);
                    /*
                     * Host b acts as an unknown bridge, which returns the packets that this bridge
                     * just forwarded.
                     */
                    for (long i = first; i < first + ROW; i += ROW / 4) {
                      b.sendTrain(GROUP, 0, i, ROW / 4, 64);
                    }
                    awaitArrived(0, 1, back + ROW);
                  }
                  b.sendTrain(GROUP, 0, 0, 10, 64);
                  awaitDrops("suspended", 10);
                }));
    BridgeStatus.Direction back = direction(0, 1);
    assertTrue(back.drops().get("storm-copy") >= 100, back.toString());
    assertEquals(back.arrived(), back.forwarded() + back.dropped());
    assertTrue(status().lastError().startsWith("storm-guard: group 239.1.1.1 is suspended"));
    assertFalse(status().groups().getLast().suspended());
  }

  private void awaitDrops(String reason, long packets) {
    await(() -> direction(0, 1).drops().getOrDefault(reason, 0L) >= packets);
  }

  @Test
  void forwardsTrainAsIntactTrain() {
    start("[group 239.1.1.1]", "[group ff05::1:1]");
    forwardTrains();
    assertTrue(status().fabrics().getLast().sentMessages() <= 4, status().toString());
  }

  /*
   * The added addresses would be the kernel's choice for a group (RFC 6724, rule 6). But the
   * packet's CRC covers the source, so the bridge must use the configured address.
   */
  @Test
  void packetsLeaveFromConfiguredAddress() {
    fabrics.runAt(0, List.of("ip", "addr", "add", "2001:db8::1/64", "dev", "e2", "nodad"));
    fabrics.runAt(0, List.of("ip", "addr", "add", "10.2.0.9/24", "dev", "e2"));
    start("[group 239.1.1.1]", "[group ff05::1:1]");
    forwardTrains();
  }

  private void forwardTrains() {
    long[] right = new long[2];
    long[] wrong = new long[1];
    atMember(
        HOST_B,
        b -> {
          atMember(
              HOST_A,
              a -> {
                assertTrue(a.sendTrain(GROUP, 0, 0, 20, 512));
                assertTrue(a.sendTrain(GROUP6, 1, 0, 20, 512));
              });
          Deadline deadline = Deadline.ofSeconds(20);
          while (right[0] + right[1] + wrong[0] < 40) {
            assertFalse(deadline.isOver(), () -> status().toString());
            b.receive(
                List.of(GROUP, GROUP6),
                10_000_000,
                (sender, group, number, isIntact) -> {
                  if (isIntact) {
                    right[group]++;
                  } else {
                    wrong[0]++;
                  }
                });
          }
        });
    assertEquals(20, right[0]);
    assertEquals(20, right[1]);
  }

  @Test
  void allocatesNothingPerPacket() {
    start("[group 239.1.1.1]", "[group ff05::1:1]");
    LongSupplier allocatedBytes = dataThreadAllocation();
    atMember(
        HOST_A,
        a -> {
          long allocated = -1;
          Deadline deadline = Deadline.ofSeconds(60);
          for (int batch = 1; allocated != 0; batch++) {
            assertFalse(deadline.isOver(), "the last batch allocated " + allocated + " bytes");
            long before = allocatedBytes.getAsLong();
            for (int row = 0; row < ROWS; row++) {
              a.sendTrain(GROUP, 0, row, 10, 300);
              a.sendTrain(GROUP6, 1, row, 10, 300);
              a.send(GROUP, 0, row, 100);
            }
            awaitArrived(0, 0, (long) batch * ROWS * 11);
            awaitArrived(1, 0, (long) batch * ROWS * 10);
            allocated = allocatedBytes.getAsLong() - before;
          }
        });
  }
}
