package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Shell;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.switching.LabSwitches;
import io.heddle.tools.switching.LinkCount;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Test of a fabric of real routers whose leaves balance load over their links to both spines. */
@EndsWithin(180)
@SystemTest
final class SwitchedFabricTest {
  private static Fabric fabric;

  @BeforeAll
  static void make() {
    Skip.unlessFabric(false);
    LabSwitches.refusal().ifPresent(Skip::because);
    fabric =
        Fabric.up(
            FabricTest.name("w"),
            FabricTest.plan(FabricShape.LEAF_SPINE, 2),
            ProcessHandle.current().pid());
  }

  @AfterAll
  static void takeDown() {
    if (fabric != null) {
      assertEquals(List.of(), Fabric.down(fabric.name()));
    }
  }

  private static void send(boolean data) {
    String program =
        String.format(
            Locale.ROOT,
            """
            import socket, struct
            s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            s.bind(('%s', 50000))
            for i in range(50):
                s.sendto(struct.pack('!III', 0x0a40ffff, %d << 24 | 17, i), ('%s', 4791))
            """,
            fabric.address(1, 1),
            data ? 1 : 0,
            fabric.address(2, 1));
    Shell.run(fabric.onHost(1, List.of("python3", "-c", program)));
  }

  private static LinkCount link(String name) {
    return fabric.status().switching().links().stream()
        .filter(each -> each.at().equals("l1") && each.link().equals(name))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void dataOfAFlowCrossesBothSpinesAndProtocolPacketsOne() {
    FabricSwitching how =
        new FabricSwitching(SwitchingMode.SPRAYLINK, false, SprayScope.GLOBAL, true);
    try (LabSwitches running = fabric.startSwitching(how)) {
      while (link("s1").markedPackets() == 0 || link("s2").markedPackets() == 0) {
        send(true);
      }
      send(false);
      assertEquals(0, Math.min(link("s1").otherPackets(), link("s2").otherPackets()));
      FabricStatus status = fabric.status();
      String report = LabReport.of(status);
      assertTrue(report.contains("spraylink, a separate hash"), report);
      assertTrue(report.contains("single packets"), report);
      assertEquals(how, Fabric.open(fabric.name()).switching());

      fabric.cut(2, "l1", true);
      FabricTest.await("BGP to find the silent cut", () -> !link("s2").alive());
      LinkCount before = link("s2");
      send(true);
      send(false);
      assertEquals(before, link("s2"), "nothing more goes there");
      fabric.restore(0);
      FabricTest.await("the link", () -> link("s2").alive() && fabric.status().healthy());
      while (link("s2").markedPackets() == before.markedPackets()) {
        send(true);
      }
      running.configure(SwitchingMode.HASH, SprayScope.GLOBAL);
      LinkCount one = link("s1");
      LinkCount two = link("s2");
      send(true);
      assertEquals(
          50,
          Math.max(
              link("s1").markedPackets() - one.markedPackets(),
              link("s2").markedPackets() - two.markedPackets()),
          "by hash they stay on one");
      running.remove();
    }
  }

  @Test
  void unknownPortIsRejectedWithTheValidOnes() {
    FabricSwitching how =
        new FabricSwitching(
            SwitchingMode.SPRAY, false, new SprayScope(List.of("s1:l1"), List.of()), false);
    LabException refused = assertThrows(LabException.class, () -> fabric.startSwitching(how));
    assertTrue(refused.getMessage().contains("l1:h1"), refused.getMessage());
  }
}
