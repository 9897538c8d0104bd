package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Test of fabrics whose planes are separate networks, or with FRR, and of the complete removal of a
 * fabric, however its creator ended.
 */
@EndsWithin(120)
@SystemTest
final class FabricRemovalTest {
  private static final int HOLD_SECONDS = 12;

  /** Returns the command lines of the fabric's BIRD daemons, which contain the fabric's folder. */
  private static List<String> daemons(Path folder) {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .filter(line -> line.contains("bird -c " + folder + "/"))
        .toList();
  }

  /** Creates a fabric and ends without taking it down. */
  public static void main(String[] arguments) {
    Fabric.up(
        arguments[0], FabricTest.plan(FabricShape.LEAF_SPINE, 2), ProcessHandle.current().pid());
    System.out.println("made");
  }

  private static Process maker(String name) throws Exception {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            FabricRemovalTest.class.getName(),
            name)
        .redirectErrorStream(true)
        .start();
  }

  @Test
  void separatePlanesHaveAPortPerHostAndAnnounceUnreachableHosts() {
    Skip.unlessFabric(false);
    String name = FabricTest.name("p");
    Fabric fabric =
        Fabric.up(name, FabricTest.plan(FabricShape.PLANES, 2), ProcessHandle.current().pid());
    try {
      FabricStatus status = fabric.status();
      assertTrue(status.healthy());
      assertEquals(2, daemons(fabric.folder()).size());
      assertEquals(
          List.of("fd00:1:2:1:0:ff:fe00:201", "fd00:2:2:2:0:ff:fe00:202"),
          status.hosts().get(1).addresses());
      assertTrue(fabric.query("l2", "show route all").contains("fd00:2::/32"));
      fabric.setReachable(2, 1, false);
      String command = "show route all for " + fabric.address(1, 2);
      FabricTest.await(
          "the exception",
          () -> fabric.query("l2", command).contains("(unknown 0x180, 10.0.1.2, 0)"));
      fabric.setReachable(2, 1, true);
      FabricTest.await(
          "the exception's end",
          () -> fabric.query("l2", command).contains("(unknown 0x180, 10.0.1.2, 100)"));
      assertEquals(List.of("l2:h1"), fabric.cut(2, fabric.defaultCutLocation(), false));
      assertFalse(fabric.status().healthy());
      fabric.restore(2);
      assertTrue(fabric.status().healthy());
    } finally {
      assertEquals(List.of(), Fabric.down(name));
    }
    assertEquals(List.of(), NetworkNamespaces.named(FabricLinks.prefix(name)));
    assertEquals(List.of(), daemons(fabric.folder()));
    assertFalse(Files.exists(fabric.folder()));
    assertThrows(LabException.class, () -> Fabric.down(name));
  }

  @Test
  void frrLeafSelectsSpinesByPolicy() {
    Skip.unlessFabric(true);
    String name = FabricTest.name("q");
    Fabric fabric =
        Fabric.up(
            name, FabricTest.plan(FabricShape.LEAF_SPINE, 2, true), ProcessHandle.current().pid());
    try {
      assertEquals(2, fabric.status().planes().get(1).ownPaths());
      assertEquals("zebra+bgpd", fabric.status().routers().get(1).program());
      fabric.setRate(2, 500_000_000L, 70);
      String command = "show route all for " + fabric.address(2, 2);
      FabricTest.await(
          "colour and bandwidth, which its spines add",
          () -> fabric.query("l1", command).contains("10.0.2.2, 70) (generic, 0x30b0000, 0x2)"));
    } finally {
      assertEquals(List.of(), Fabric.down(name));
    }
    assertFalse(Files.exists(Path.of("/run/frr", "heddle-" + name + "-l2")));
  }

  @Test
  @WholeRunOnly
  void frrLeafDetectsSilentCutByBfd() {
    Skip.unlessFabric(true);
    String name = FabricTest.name("b");
    FabricPlan plan =
        new FabricPlan(
            FabricShape.LEAF_SPINE,
            2,
            1,
            2,
            2,
            Collections.nCopies(2, 500_000_000L),
            Collections.nCopies(2, 100),
            9_000,
            20,
            HOLD_SECONDS,
            100,
            true);
    Fabric fabric = Fabric.up(name, plan, ProcessHandle.current().pid());
    try {
      assertEquals("zebra+bfdd+bgpd", fabric.status().routers().get(1).program());
      FabricTest.await(
          "BFD with both spines",
          () -> fabric.query("l2", "show bfd peers").split("Status: up", -1).length == 3);
      long start = System.nanoTime();
      Deadline half = Deadline.ofSeconds(HOLD_SECONDS / 2);
      fabric.cut(2, "l2", true);
      FabricTest.await(
          "the other path at both leaves",
          () -> fabric.status().planes().get(1).borrowed().equals(List.of("l1:s1", "l2:s1")));
      boolean isLate = half.isOver();
      long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      System.out.printf(
          "silent cut until both leaves use the other path, one FRR, BFD 100 ms x 3: %s ms%n",
          tookMs);
      assertFalse(isLate, () -> "it took longer than " + half);
    } finally {
      assertEquals(List.of(), Fabric.down(name));
    }
  }

  @Test
  void frrPlanePropagatesAnnouncementsOfItsCore() {
    Skip.unlessFabric(true);
    String name = FabricTest.name("r");
    Fabric fabric =
        Fabric.up(
            name, FabricTest.plan(FabricShape.PLANES, 2, true), ProcessHandle.current().pid());
    try {
      fabric.setReachable(2, 1, false);
      String command = "show bgp ipv6 unicast " + fabric.address(1, 2) + "/128";
      FabricTest.await("the exception", () -> fabric.query("l2", command).contains("UNK:1, 128"));
    } finally {
      assertEquals(List.of(), Fabric.down(name));
    }
  }

  @Test
  void incompleteFabricOfKilledCreatorIsTakenDownByName() throws Exception {
    Skip.unlessFabric(false);
    String name = FabricTest.name("k");
    Path folder = new FabricFolder(name).path();
    Process maker = maker(name);
    FabricTest.await("its first daemon", () -> !daemons(folder).isEmpty());
    maker.destroyForcibly().waitFor();
    assertEquals(List.of(), Fabric.down(name));
    assertEquals(List.of(), NetworkNamespaces.named(FabricLinks.prefix(name)));
    assertEquals(List.of(), daemons(folder));
    assertFalse(Files.exists(folder));
  }

  @Test
  void fabricOfDeadOwnerIsRemovedByTheNext() throws Exception {
    Skip.unlessFabric(false);
    String lost = FabricTest.name("o");
    Process maker = maker(lost);
    assertTrue(Deadline.ofSeconds(60).awaitExit(maker));
    assertEquals("made\n", new String(maker.getInputStream().readAllBytes()));
    assertFalse(NetworkNamespaces.named(FabricLinks.prefix(lost)).isEmpty());
    String next = FabricTest.name("n");
    FabricPlan small =
        new FabricPlan(
            FabricShape.PLANES,
            0,
            1,
            1,
            1,
            List.of(1_000_000_000L),
            List.of(1),
            1_500,
            20,
            9,
            0,
            false);
    Fabric.up(next, small, ProcessHandle.current().pid());
    assertEquals(List.of(), Fabric.down(next));
    assertEquals(List.of(), NetworkNamespaces.named(FabricLinks.prefix(lost)));
  }

  @Test
  void invalidFabricPlansAreRejected() {
    assertThrows(IllegalArgumentException.class, () -> rates(2, 1_000_000_000L));
    assertThrows(IllegalArgumentException.class, () -> rates(1, 1_000L));
    assertThrows(IllegalArgumentException.class, () -> rates(0, 1_000_000_000L));
    assertThrows(LabException.class, () -> new FabricFolder("Bad-Name"));
  }

  private static FabricPlan rates(int spines, long rate) {
    return new FabricPlan(
        FabricShape.LEAF_SPINE,
        spines,
        1,
        2,
        2,
        List.of(rate),
        Collections.nCopies(Math.max(spines, 1), 100),
        9_000,
        20,
        9,
        0,
        false);
  }
}
