package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Shell;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Test of a fabric of two leaves and two spines, each a real BIRD: the paths of the planes, with
 * and without faults.
 */
@EndsWithin(120)
@SystemTest
final class FabricTest {
  private static final int DATAGRAMS = 200;
  private static final int DATAGRAM_BYTES = 1_000;
  private static final long BURST = (long) DATAGRAMS * DATAGRAM_BYTES;
  private static Fabric fabric;

  /** Returns a name that is unique on this machine. */
  static String name(String kind) {
    return kind + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
  }

  static FabricPlan plan(FabricShape shape, int planes) {
    return plan(shape, planes, false);
  }

  static FabricPlan plan(FabricShape shape, int planes, boolean frr) {
    boolean spines = shape == FabricShape.LEAF_SPINE;
    return new FabricPlan(
        shape,
        spines ? planes : 0,
        1,
        spines ? 2 : planes,
        2,
        Collections.nCopies(planes, 500_000_000L),
        Collections.nCopies(planes, 100),
        9_000,
        20,
        6,
        0,
        frr);
  }

  @BeforeAll
  static void make() {
    Skip.unlessFabric(false);
    fabric = Fabric.up(name("f"), plan(FabricShape.LEAF_SPINE, 2), ProcessHandle.current().pid());
  }

  @AfterAll
  static void takeDown() {
    if (fabric != null) {
      assertEquals(List.of(), Fabric.down(fabric.name()));
    }
  }

  @AfterEach
  void heal() {
    fabric.restore(0);
    await("health", () -> fabric.status().healthy());
  }

  static void await(String what, BooleanSupplier condition) {
    Deadline deadline = Deadline.ofSeconds(40);
    while (!condition.getAsBoolean()) {
      assertTrue(!deadline.isOver(), "timed out waiting for " + what);
      FabricDaemons.pause(100);
    }
  }

  private static long receivedBytes(int plane) {
    return fabric.status().planes().get(plane - 1).receivedBytes();
  }

  private static int ownPaths(int plane) {
    return fabric.status().planes().get(plane - 1).ownPaths();
  }

  /**
   * Sends datagrams from the first host's address on a plane to the second's. Nobody needs to
   * receive them.
   */
  private static void send(int plane) {
    String program =
        String.format(
            Locale.ROOT,
            """
            import socket
            s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            s.bind(('%s', 0))
            for i in range(%d):
                s.sendto(bytes(%d), ('%s', 9))
            """,
            fabric.address(1, plane),
            DATAGRAMS,
            DATAGRAM_BYTES,
            fabric.address(2, plane));
    Shell.run(fabric.onHost(1, List.of("python3", "-c", program)));
  }

  /** Returns the growth of both planes' counters while datagrams are sent on one plane. */
  private static long[] countersAfterSending(int plane) {
    long[] before = {receivedBytes(1), receivedBytes(2)};
    send(plane);
    return new long[] {receivedBytes(1) - before[0], receivedBytes(2) - before[1]};
  }

  @Test
  void eachPrefixCrossesItsOwnSpine() {
    long[] first = countersAfterSending(1);
    assertTrue(first[0] >= BURST, "spine 1 took " + first[0]);
    assertTrue(first[1] < BURST / 10, "spine 2 took " + first[1]);
    long[] second = countersAfterSending(2);
    assertTrue(second[1] >= BURST, "spine 2 took " + second[1]);
    assertTrue(second[0] < BURST / 10, "spine 1 took " + second[0]);
  }

  @Test
  void planeWithoutCarrierUsesTheOtherSpineUntilRestored() {
    assertEquals(List.of("l1:s2"), fabric.cut(2, "l1", false));
    await("the other path", () -> ownPaths(2) == 0 && borrowed(2).size() == 2);
    assertEquals(List.of("l1:s1", "l2:s1"), borrowed(2));
    assertEquals(List.of("l1:s2 carrier"), fabric.status().planes().get(1).cuts());
    assertEquals(2, ownPaths(1), "the other plane keeps its path");
    long[] added = countersAfterSending(2);
    assertTrue(added[0] >= BURST, "spine 1 took " + added[0]);
    fabric.restore(2);
    await("the own path", () -> ownPaths(2) == 2);
  }

  private static List<String> borrowed(int plane) {
    return fabric.status().planes().get(plane - 1).borrowed();
  }

  @Test
  void silentCutDropsPacketsUntilTheHoldTimeExpires() {
    fabric.cut(2, "l1", true);
    assertEquals(List.of("l1:s2 silent"), fabric.status().planes().get(1).cuts());
    long[] added = countersAfterSending(2);
    assertTrue(added[0] < BURST / 10, "spine 1 took " + added[0]);
    assertTrue(added[1] < BURST / 10, "spine 2 took " + added[1]);
    await("the other path", () -> borrowed(2).equals(List.of("l1:s1", "l2:s1")));
  }

  @Test
  void newRateIsShapedAndAnnounced() {
    fabric.setRate(1, 250_000_000L, 50);
    assertEquals(0.25, fabric.status().planes().get(0).rateGbps());
    String command = "show route all for " + fabric.address(2, 1);
    await(
        "the announcement",
        () -> fabric.query("l1", command).contains("(unknown 0x180, 10.0.1.2, 50)"));
    String shaped =
        Shell.run(List.of("tc", "-n", "heddle-" + fabric.name() + "-s1", "qdisc", "show"));
    assertEquals(2, shaped.lines().filter(line -> line.contains("rate 250Mbit")).count(), shaped);
    fabric.setRate(1, 500_000_000L, 100);
  }

  @Test
  void fabricIsFoundByName() {
    assertEquals(fabric.plan(), Fabric.open(fabric.name()).plan());
    LabException unknown = assertThrows(LabException.class, () -> Fabric.open("nosuch"));
    assertTrue(String.valueOf(unknown.getMessage()).contains("no lab named 'nosuch'"));
  }

  @Test
  void secondFabricOfTheSameNameIsRejectedWithoutHarm() {
    FabricPlan again = plan(FabricShape.LEAF_SPINE, 2);
    LabException refused =
        assertThrows(LabException.class, () -> Fabric.up(fabric.name(), again, 0));
    assertTrue(String.valueOf(refused.getMessage()).contains("already exists"));
    assertTrue(fabric.status().healthy());
  }

  @Test
  void missingLinksCannotBeCut() {
    assertThrows(LabException.class, () -> fabric.cut(3, "l1", false));
    assertThrows(LabException.class, () -> fabric.cut(1, "l3", false));
    assertThrows(LabException.class, () -> fabric.cut(1, "h1", false));
    assertFalse(fabric.status().planes().stream().anyMatch(plane -> !plane.cuts().isEmpty()));
  }
}
