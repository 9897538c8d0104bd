package io.heddle.systemtests;

import static io.heddle.systemtests.NeighbourHost.GOOD;
import static io.heddle.systemtests.NeighbourHost.byName;
import static io.heddle.systemtests.NeighbourHost.cpuSeconds;
import static io.heddle.systemtests.NeighbourHost.peer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.NanoClock;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of the route daemon with faulty neighbours and full disks. */
@EndsWithin(180)
@Execution(ExecutionMode.CONCURRENT)
@SystemTest
final class FaultyBgpNeighboursTest {
  @TempDir private Path folder;
  private NeighbourHost host;

  @BeforeEach
  void build() throws Exception {
    host = new NeighbourHost(folder);
  }

  @AfterEach
  void takeDown() throws Exception {
    if (host != null) {
      host.close();
    }
  }

  @Test
  void namesBadPeersAndStillPublishesGoodPeersPlane() throws Exception {
    host.neighbour("good", GOOD);
    host.neighbour("wrong-as", "fd00:ff::2");
    host.neighbour("silent", "fd00:ff::3");
    host.neighbour("garbage", "fd00:ff::4");
    String peers =
        peer("good", GOOD)
            + peer("wrong-as", "fd00:ff::2")
            + peer("silent", "fd00:ff::3")
            + peer("garbage", "fd00:ff::4")
            + peer("refusing", "fd00:ff::5")
            + peer("vanishing", "fd00:dd::2");
    try (RouteDaemonProcess daemon = host.daemon("publish-after-ms = 2000\n" + peers)) {
      daemon.awaitLog("weights are published");
      double before = cpuSeconds(daemon);
      long beganNs = System.nanoTime();
      Map<String, String> why =
          Map.of(
              "wrong-as",
              "the peer is in AS 70999, configured is AS 65002",
              "silent",
              "the peer sent no OPEN within 10000 ms",
              "garbage",
              "byte 0 of the marker is 0x48",
              "refusing",
              "can't connect: ECONNREFUSED",
              "vanishing",
              "can't connect: ETIMEDOUT");
      JsonNode all =
          daemon.await(
              "every reason",
              each -> {
                Map<String, JsonNode> peer = byName(each);
                return why.entrySet().stream()
                    .allMatch(one ->
                        peer.get(one.getKey()).path("last_end").asText().contains(one.getValue()));
              },
              "neighbours");
      double seconds = (System.nanoTime() - beganNs) / 1e9;
      double used = cpuSeconds(daemon) - before;
      for (String bad : why.keySet()) {
        JsonNode peer = byName(all).get(bad);
        long attempts = peer.path("failed_attempts").asLong();
        assertTrue(attempts <= 2 + seconds, bad + " was tried " + attempts + " times");
        assertTrue(daemon.log().contains("peer " + bad + ": no session: "), daemon.log());
      }
      JsonNode idle =
          daemon.await(
              "the wait of a peer that made an error",
              each -> byName(each).get("garbage").path("idle_until").isTextual(),
              "neighbours");
      Instant until = Instant.parse(byName(idle).get("garbage").path("idle_until").asText());
      assertTrue(until.isAfter(Instant.now().minusSeconds(60)), until.toString());
      assertTrue(byName(idle).get("good").path("idle_until").isNull());
      assertTrue(byName(idle).get("refusing").path("idle_until").isNull());
      assertTrue(daemon.text("neighbours").contains(" are rejected until "));
      JsonNode good = byName(all).get("good");
      assertEquals("established", good.path("state").asText());
      assertEquals(1, good.path("established").asLong());
      JsonNode reached = daemon.show("destination", "fd00:9:0:7::1");
      assertEquals(1.0, reached.path("planes").path(0).path("share").asDouble());
      String refusal = daemon.refusal("routes", "--peer", GOOD);
      assertTrue(refusal.contains("there is no peer " + GOOD + "; peers are "), refusal);
      assertTrue(used < 0.25 * seconds + 1, used + " s of CPU in " + seconds + " s");
    }
  }

  @Test
  void namesFullDiskAndPublishesOnceThereIsRoom() throws Exception {
    host.neighbour("good", GOOD);
    Path small = Files.createDirectory(folder.resolve("small"));
    /* ip netns exec gives the daemon its own mounts, so this mount disappears with the daemon. */
    String mount = "mount -t tmpfs -o size=192k none " + small + " && exec \"$@\"";
    try (RouteDaemonProcess daemon =
        host.daemon(
            "publish = " + small + "/routes\n" + peer("good", GOOD), "sh", "-c", mount, "sh")) {
      daemon.awaitLog("weights are published");
      Files.writeString(folder.resolve("more"), "3000");
      daemon.awaitLog("routes aren't published any more, readers keep what they have");
      assertTrue(
          daemon.log().contains(small + "/routes.new needs ") && daemon.log().contains("make room"),
          daemon.log());
      JsonNode status =
          daemon.await(
              "all routes from the peer",
              each -> byName(each).get("good").path("routes").asInt() == 3000,
              "neighbours");
      assertTrue(status.path("incomplete").asBoolean(), status.toPrettyString());
      JsonNode kept = daemon.show("destination", "fd00:9:0:7::1");
      assertEquals(1.0, kept.path("planes").path(0).path("share").asDouble());
      long upMs = byName(status).get("good").path("up_for_ms").asLong();
      daemon.await(
          "the time of another try",
          each -> byName(each).get("good").path("up_for_ms").asLong() > upMs + 6_000,
          "neighbours");
      assertFirstRoutesAreRead(Path.of("/proc", Long.toString(daemon.pid()), "root" + small));
      long tries = daemon.log().lines().filter(each -> each.contains("any more")).count();
      Shell.run(
          List.of(
              "nsenter",
              "-t",
              Long.toString(daemon.pid()),
              "-m",
              "mount",
              "-o",
              "remount,size=4m",
              small.toString()));
      daemon.awaitLog("routes are published again, 3000 prefixes");
      assertTrue(tries < 3, tries + " tries");
      assertFalse(daemon.show("neighbours").path("incomplete").asBoolean());
    }
  }

  /*
   * Checks the routes that the daemon wrote before the disk was full. Only the daemon's mount
   * namespace has their file.
   */
  private static void assertFirstRoutesAreRead(Path folder) throws Exception {
    try (RouteReader reader = RouteReader.open(folder.resolve("routes"), NanoClock.SYSTEM)) {
      RouteAnswer answer = new RouteAnswer();
      for (int i = 0; i < 1000; i++) {
        String host = "fd00:9:0:%s::1".formatted(Integer.toHexString(i));
        ByteBuffer bytes = ByteBuffer.wrap(InetAddress.getByName(host).getAddress());
        assertTrue(reader.resolve(bytes.getLong(), bytes.getLong(), answer), host);
        assertTrue(answer.weight(0) > 0, host + " has no weight any more");
      }
    }
  }

  @Test
  void refusesDiskWithoutRoomForFirstFile() throws Exception {
    Path small = Files.createDirectory(folder.resolve("small"));
    String mount = "mount -t tmpfs -o size=16k none " + small + " && exec \"$@\"";
    try (RouteDaemonProcess daemon =
        host.daemon(
            "publish = " + small + "/routes\n" + peer("good", GOOD), "sh", "-c", mount, "sh")) {
      assertEquals(1, daemon.exitCode());
      assertTrue(
          daemon.log().contains(small + "/routes.new needs ")
              && daemon.log().contains("\"publish\" in the daemon's configuration"),
          daemon.log());
    }
  }
}
