package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of routes to single hosts, on two planes with a BIRD leaf each. Heddle's daemon announces
 * such routes to a leaf, and reacts to a leaf that announces a host as unreachable.
 */
@EndsWithin(240)
@SystemTest
final class HostRoutesTest {
  private static final long LIMIT_SECONDS = 60;
  private static final String PEERS =
      "[peer leaf1]\ninterface = e1\nplane = p1\n[peer leaf2]\ninterface = e2\nplane = p2\n";

  private static Fabric fabric;

  @TempDir private Path folder;

  @BeforeAll
  static void make() {
    Skip.unlessFabric(false);
    FabricPlan plan =
        new FabricPlan(
            FabricShape.PLANES,
            0,
            1,
            2,
            2,
            Collections.nCopies(2, 250_000_000L),
            Collections.nCopies(2, 100),
            9_000,
            20,
            6,
            0,
            false);
    String name = "hr" + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
    fabric = Fabric.up(name, plan, ProcessHandle.current().pid());
  }

  @AfterAll
  static void takeDown() {
    if (fabric != null) {
      assertEquals(List.of(), Fabric.down(fabric.name()));
    }
  }

  /*
   * The extended community in the announcements has type 00 81, the host's AS number and its router
   * ID.
   */
  @Test
  void ownAddressesCarryNoInstallCommunity() throws Exception {
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d"), PEERS)) {
      daemon.awaitLog("weights are published");
      for (int plane = 1; plane <= 2; plane++) {
        awaitLeaf(plane, "the mark", route -> route.contains("(unknown 0x81, 65001, "));
      }
      daemon.reload(1, "fib-suppress = no\n" + PEERS);
      awaitLeaf(1, "the unmarked", route -> route.contains("via") && !route.contains("0x81,"));
    }
    awaitLeaf(1, "our withdrawal", route -> !route.contains("via"));
  }

  @Test
  void reportsAnnouncedUnreachabilityWithCommunity() throws Exception {
    String remote = fabric.address(2, 1);
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d"), PEERS)) {
      daemon.awaitLog("weights are published");
      daemon.await("the plane", each -> share(each) > 0, "destination", remote);
      fabric.setReachable(1, 2, false);
      announceUnreachableByCommunity();
      JsonNode told =
          daemon.await(
              "the announcement",
              each ->
                  share(each) == 0 && first(each).toString().contains("unreachable: announced so"),
              "destination",
              remote);
      String why = first(told).path("why").asText();
      assertTrue(
          why.startsWith(
              "carries no traffic: unreachable: announced so, by " + remote + "/128 from leaf1"),
          why);
      assertTrue(why.contains("covering routes of this plane don't count"), why);
      String text = daemon.text("destination", remote);
      assertTrue(text.contains("unreachable by 10.0.1.9"), text);
      JsonNode neighbour = daemon.show("destination", fabric.address(1, 1));
      assertTrue(share(neighbour) > 0, "the announcement is of one host");
      fabric.setReachable(1, 2, true);
      JsonNode again = daemon.await("its return", each -> share(each) > 0, "destination", remote);
      assertTrue(first(again).path("why").asText().contains("fd00:1::/32"), again.toString());
    }
  }

  /*
   * Makes a leaf announce the host as unreachable, by a community instead of path bandwidth 0: type
   * 03 09, flags, and the router that lost the host.
   */
  private static void announceUnreachableByCommunity() throws IOException, InterruptedException {
    Path configuration = fabric.folder().resolve("l1.conf");
    String before = Files.readString(configuration);
    String after =
        before.replaceFirst(
            "\\(generic, 0x0180[0-9a-f]{4}, 0x[0-9a-f]{4}0000\\)",
            "(generic, 0x03090000, 0x0a000109)");
    assertNotEquals(before, after);
    Files.writeString(configuration, after);
    Process configure =
        new ProcessBuilder("birdc", "-s", fabric.folder().resolve("l1.ctl").toString(), "configure")
            .redirectErrorStream(true)
            .start();
    String answer = new String(configure.getInputStream().readAllBytes());
    assertEquals(0, configure.waitFor(), answer);
    assertTrue(answer.contains("Reconfigur"), answer);
  }

  private static JsonNode first(JsonNode explanation) {
    JsonNode plane = explanation.path("planes").path(0);
    assertEquals("plane:p1", plane.path("key").asText(), explanation.toPrettyString());
    return plane;
  }

  private static double share(JsonNode explanation) {
    return first(explanation).path("share").asDouble();
  }

  private static void awaitLeaf(int plane, String what, Predicate<String> expected)
      throws InterruptedException {
    String question = "show route all for " + fabric.address(1, plane) + "/128";
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (true) {
      String answer = hostRoute(fabric.query("l" + plane, question), fabric.address(1, plane));
      if (expected.test(answer)) {
        return;
      }
      assertTrue(!deadline.isOver(), () -> "no " + what + " in\n" + answer);
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /*
   * Returns BIRD's answer if it is about the host's own route, else an empty text: for a host
   * without such a route, BIRD prints the covering route.
   */
  private static String hostRoute(String answer, String address) {
    return answer.contains(address + "/128") ? answer : "";
  }
}
