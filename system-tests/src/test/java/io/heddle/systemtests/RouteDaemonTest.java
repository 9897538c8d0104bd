package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsReader;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the route daemon with real routers, and of the real plugin, which uses the daemon's
 * weights.
 */
@EndsWithin(240)
@SystemTest
final class RouteDaemonTest {
  private static final String BY_COLOUR = "[peer leaf]\ninterface = e0\nplane = by-colour\n";

  private static final String TWO_LEAVES =
      "[peer leaf1]\ninterface = e1\nplane = p1\n[peer leaf2]\ninterface = e2\nplane = p2\n";

  @TempDir private Path folder;

  private Fabric fabric;

  @AfterEach
  void takeDown() {
    if (fabric != null) {
      assertEquals(List.of(), Fabric.down(fabric.name()));
    }
  }

  private void make(FabricShape shape, Integer... bandwidths) {
    make(shape, false, bandwidths);
  }

  /* Creates the fabric. The last leaf runs FRR if frr is true. */
  private void make(FabricShape shape, boolean frr, Integer... bandwidths) {
    Skip.unlessFabric(frr);
    boolean spines = shape == FabricShape.LEAF_SPINE;
    int planes = bandwidths.length;
    FabricPlan plan =
        new FabricPlan(
            shape,
            spines ? planes : 0,
            1,
            spines ? 2 : planes,
            2,
            Stream.of(bandwidths).map(RouteDaemonTest::bitsPerSecond).toList(),
            List.of(bandwidths),
            9_000,
            20,
            6,
            0,
            frr);
    String name = "rd" + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
    fabric = Fabric.up(name, plan, ProcessHandle.current().pid());
  }

  /*
   * Returns the rate to which a link is shaped: proportional to the announced bandwidth. Shaping is
   * needed because the spray policy also observes rates.
   */
  private static long bitsPerSecond(int announced) {
    return announced * 2_500_000L;
  }

  /* Returns each plane as KEY=PERCENT, sorted by key. */
  private static String shares(JsonNode explanation) {
    Map<String, Long> shares = new TreeMap<>();
    for (JsonNode plane : explanation.path("planes")) {
      shares.put(plane.path("key").asText(), Math.round(100 * plane.path("share").asDouble()));
    }
    return shares.toString();
  }

  @Test
  void separatePlanesFollowReachabilityAndRates() throws Exception {
    make(FabricShape.PLANES, 400, 400, 200);
    StringBuilder peers = new StringBuilder();
    for (int plane = 1; plane <= 3; plane++) {
      peers.append(
          String.format(Locale.ROOT, "[peer leaf%1$d]\ninterface = e%1$d\nplane = p%1$d\n", plane));
    }
    String remote = fabric.address(2, 1);
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d"), peers.toString())) {
      daemon.awaitLog("weights are published");
      String[] question = {"destination", remote};
      daemon.await("weights", each -> shares(each).contains("plane:p1=100"), question);
      fabric.setReachable(1, 2, false);
      JsonNode without =
          daemon.await("loss", each -> shares(each).contains("plane:p1=0"), question);
      assertTrue(
          without.toString().contains("unreachable: path bandwidth 0, by " + remote + "/128"),
          without.toPrettyString());
      String text = daemon.text("destination", remote);
      assertTrue(text.contains("next hop [fe80:"), text);
      assertTrue(text.contains("path bandwidth 0"), text);
      fabric.setReachable(1, 2, true);
      daemon.await("its return", each -> shares(each).contains("plane:p1=100"), question);
      fabric.setRate(3, bitsPerSecond(800), 800);
      daemon.await(
          "the new bandwidth",
          each -> each.toString().contains("800 Gbit/s, path bandwidth"),
          "destination",
          fabric.address(2, 3));
      JsonNode status = daemon.show("neighbours");
      assertEquals(3, status.path("neighbours").size());
      for (JsonNode plane : status.path("planes")) {
        assertTrue(plane.path("source").asText().startsWith("fd00"), status.toPrettyString());
      }
    }
  }

  @Test
  void coloursArePlanesAndRunningRanksFollow() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    make(FabricShape.LEAF_SPINE, 100, 300);
    Path stats = folder.resolve("stats");
    try (RouteDaemonProcess one =
            RouteDaemonProcess.start(fabric, 1, folder.resolve("d1"), BY_COLOUR);
        RouteDaemonProcess two =
            RouteDaemonProcess.start(fabric, 2, folder.resolve("d2"), BY_COLOUR)) {
      one.awaitLog("weights are published");
      two.awaitLog("weights are published");
      await("our addresses", one);
      await("our addresses", two);
      Path meeting = Files.createDirectory(folder.resolve("meeting"));
      List<HostProcess> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < 2; rank++) {
          ranks.add(rank(rank, meeting, stats, (rank == 0 ? one : two).routes()));
        }
        for (HostProcess rank : ranks) {
          rank.awaitOutput("planes [colour:1, colour:2]", 30);
        }
        awaitBytes(stats, 40L << 20);
        assertEquals(0.75, shareOfSecond(stats, 40L << 20), 0.03);
        JsonNode planes =
            HeddleRun.json(
                "planes",
                "--json",
                "--peer",
                fabric.address(2, 1),
                "--stats",
                stats.resolve("0").toString());
        JsonNode second = planes.path("planes").path(1);
        assertEquals("colour:2", second.path("key").asText());
        assertEquals(fabric.address(1, 2), second.path("local").asText());
        assertEquals(fabric.address(2, 2), second.path("remote").asText());
        assertEquals("routes: path bandwidth", second.path("source").asText());
        assertEquals(0.75, second.path("weight_share").asDouble(), 0.001);
        assertEquals(0.75, second.path("sent_share").asDouble(), 0.05);
        fabric.setRate(2, bitsPerSecond(100), 100);
        awaitWeight(one);
        awaitWeight(two);
        assertEquals(0.5, shareOfSecond(stats, 40L << 20), 0.03);
      } finally {
        for (HostProcess rank : ranks) {
          rank.close();
        }
      }
      fabric.cut(2, fabric.defaultCutLocation(), false);
      JsonNode lost =
          one.await(
              "a borrowed path",
              each -> each.toString().contains("\"borrowed\":true"),
              "destination",
              fabric.address(2, 2));
      assertTrue(lost.toString().contains("borrows another plane's"), lost.toPrettyString());
      fabric.restore(2);
      one.await(
          "its own path",
          each -> !each.toString().contains("\"borrowed\":true"),
          "destination",
          fabric.address(2, 2));
      assertEquals(143, one.terminate(), one.log());
      assertTrue(one.log().contains("ended; jobs keep the last weights"), one.log());
    }
  }

  @Test
  void explanationIncludesLeafsFilter() throws Exception {
    make(FabricShape.PLANES, true, 100, 300);
    String asked = fabric.address(2, 2);
    String peers = TWO_LEAVES + "filter = yes\nfilter-always = " + asked + "/128\n";
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d"), peers)) {
      daemon.awaitLog("weights are published");
      JsonNode told =
          daemon.await(
              "a filter of one line",
              each -> each.toString().contains("leaf2 filters for us by 1 lines, and one"),
              "destination",
              asked);
      assertTrue(
          told.toString().contains("one of them permits this address"), told.toPrettyString());
      JsonNode untold = daemon.show("destination", "fd00:99::1");
      assertTrue(
          untold.toString().contains("none of them permits this address"), untold.toPrettyString());
    }
  }

  @Test
  void weightsOutliveKilledDaemonThenBecomeEqual() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    make(FabricShape.PLANES, 100, 300);
    Path stats = folder.resolve("stats");
    Path daemons = folder.resolve("d1");
    try (RouteDaemonProcess one = RouteDaemonProcess.start(fabric, 1, daemons, TWO_LEAVES)) {
      one.awaitLog("weights are published");
      await("our addresses", one);
      Path meeting = Files.createDirectory(folder.resolve("meeting"));
      try (HostProcess first = rank(0, meeting, stats, one.routes());
          HostProcess second = rank(1, meeting, stats, folder.resolve("no-routes"))) {
        awaitBytes(stats, 40L << 20);
        assertEquals(List.of(1, 3), weights(stats));
        one.kill();
        first.awaitOutput("its last weights hold for 2000 ms", 30);
        assertEquals(List.of(1, 3), weights(stats));
        first.awaitOutput("all planes weigh the same until it is back", 30);
        awaitBytes(stats, 40L << 20);
        assertEquals(List.of(1, 1), weights(stats));
        try (RouteDaemonProcess next = RouteDaemonProcess.start(fabric, 1, daemons, TWO_LEAVES)) {
          first.awaitOutput(") again", 60);
          awaitBytes(stats, 40L << 20);
          assertEquals(List.of(1, 3), weights(stats));
          try (RandomAccessFile file = new RandomAccessFile(next.routes().toFile(), "rw")) {
            file.setLength(0);
          }
          first.awaitOutput("cut the routes file " + next.routes() + " short", 30);
          next.awaitLog("creating it again");
          awaitBytes(stats, 40L << 20);
          assertEquals(List.of(1, 3), weights(stats));
          assertTrue(first.isAlive(), first.output());
        }
        assertTrue(second.isAlive(), second.output());
      }
    }
  }

  /* Returns rank 0's sending weights by plane, divided by their greatest common divisor. */
  private static List<Integer> weights(Path stats) throws IOException {
    Map<String, Integer> weights = new TreeMap<>();
    for (ProcessStats.Row row : rows(stats.resolve("0"))) {
      if (row.direction() == StatsFile.Direction.SEND) {
        weights.put(row.planeKey(), row.weight());
      }
    }
    int least = weights.values().stream().mapToInt(Integer::intValue).min().orElse(1);
    return weights.values().stream().map(each -> Math.round((float) each / least)).toList();
  }

  @Test
  void reloadChangesOnlyEditedPeers() throws Exception {
    make(FabricShape.PLANES, 100, 100, 100);
    String[] peer = new String[4];
    for (int plane = 1; plane <= 3; plane++) {
      peer[plane] =
          String.format(Locale.ROOT, "[peer leaf%1$d]\ninterface = e%1$d\nplane = p%1$d\n", plane);
    }
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d"), peer[1] + peer[2])) {
      daemon.awaitLog("weights are published");
      daemon.reload(1, "fib-supress = no\n" + peer[1]);
      daemon.awaitLog("the previous configuration stays in force");
      assertTrue(
          daemon.log().contains("bgp.conf line 5: there is no key 'fib-supress'"), daemon.log());
      assertEquals(2, daemon.show("neighbours").path("neighbours").size());
      daemon.reload(1, peer[1] + "rate-gbps = 50\n" + peer[3]);
      daemon.awaitLog(
          "rate-gbps of [peer leaf1] becomes 50, was unset (the port's); [peer leaf2] ends; [peer"
              + " leaf3] begins; unchanged sections: 0; sessions that end: [leaf2], that begin:"
              + " [leaf3]");
      daemon.await(
          "the rate of the port",
          each -> each.toString().contains("50 Gbit/s, rate of the local port"),
          "destination",
          fabric.address(2, 1));
      daemon.await(
          "the new peer's routes",
          each -> shares(each).contains("plane:p3=100"),
          "destination",
          fabric.address(2, 3));
      JsonNode status = daemon.show("neighbours");
      assertEquals(2, status.path("neighbours").size());
      assertEquals("leaf1", status.path("neighbours").path(0).path("name").asText());
      assertEquals(1, status.path("neighbours").path(0).path("established").asInt());
      for (JsonNode plane : status.path("planes")) {
        boolean ended = plane.path("key").asText().equals("plane:p2");
        assertEquals(ended, plane.path("source").isNull(), status.toPrettyString());
      }
    }
  }

  /*
   * One host has no daemon, so the keys of its planes are if:e1 and if:e2. Those of the other
   * host's planes are plane:p1 and plane:p2.
   */
  @Test
  void hostWithoutDaemonConnectsByItsOwnNames() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    make(FabricShape.PLANES, 100, 300);
    Path stats = folder.resolve("stats");
    try (RouteDaemonProcess one =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d1"), TWO_LEAVES)) {
      one.awaitLog("weights are published");
      await("our addresses", one);
      Path meeting = Files.createDirectory(folder.resolve("meeting"));
      try (HostProcess first = rank(0, meeting, stats, one.routes());
          HostProcess second = rank(1, meeting, stats, folder.resolve("no-routes"))) {
        first.awaitOutput("plane:p1 is if:e1 there", 30);
        second.awaitOutput("if:e1 is plane:p1 there", 30);
        first.awaitOutput("only this host's daemon had named them", 1);
        second.awaitOutput("only the peer's daemon had named them", 1);
        awaitBytes(stats, 40L << 20);
        for (ProcessStats.Row row : rows(stats.resolve("0"))) {
          if (row.direction() == StatsFile.Direction.SEND) {
            assertEquals("routes: path bandwidth", row.weightSource());
          }
        }
      }
    }
  }

  private static List<ProcessStats.Row> rows(Path folder) throws IOException {
    List<ProcessStats.Row> rows = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.stats")) {
      for (Path file : files) {
        rows.addAll(StatsReader.read(file));
      }
    }
    return rows;
  }

  private static void await(String what, RouteDaemonProcess daemon) throws Exception {
    daemon.await(
        what,
        each -> {
          boolean all = each.path("planes").size() == 2;
          for (JsonNode plane : each.path("planes")) {
            all &= !plane.path("source").isNull();
          }
          return all;
        },
        "neighbours");
  }

  private void awaitWeight(RouteDaemonProcess daemon) throws Exception {
    daemon.await(
        "the new bandwidth",
        each -> {
          for (JsonNode route : each.path("routes")) {
            if (route.path("plane").asText().equals("colour:2")
                && route.path("bandwidth_mbps").asInt() != 100_000) {
              return false;
            }
          }
          return true;
        },
        "routes");
  }

  /*
   * Starts a rank with a policy that splits messages by weight alone. The policy "spray" would also
   * use observed rates, and on a busy host even a shaped plane sometimes has idle capacity.
   */
  private HostProcess rank(int rank, Path meeting, Path stats, Path routes) throws IOException {
    List<String> command = HostProcess.endlessAllReduce(meeting, rank, 2, 4 << 20);
    return HostProcess.start(
        fabric.onHost(rank + 1, command),
        folder.resolve("rank" + rank + ".log"),
        Map.of(
            "HEDDLE_ROUTES",
            routes.toString(),
            "HEDDLE_ROUTES_HOLD_MS",
            "2000",
            "HEDDLE_POLICY",
            "pinned",
            "HEDDLE_STATS_DIR",
            stats.resolve(Integer.toString(rank)).toString(),
            "HEDDLE_JAVA_HOME",
            System.getProperty("java.home")));
  }

  private static void awaitBytes(Path stats, long more) throws Exception {
    long[] before = sent(stats);
    Deadline deadline = Deadline.ofSeconds(60);
    while (sum(sent(stats)) - sum(before) < more) {
      assertTrue(!deadline.isOver(), "the ranks don't send");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /* Returns the share of plane colour:2 in the bytes that both ranks send from now on. */
  private static double shareOfSecond(Path stats, long bytes) throws Exception {
    long[] before = sent(stats);
    awaitBytes(stats, bytes);
    long[] after = sent(stats);
    return (double) (after[1] - before[1]) / (sum(after) - sum(before));
  }

  private static long sum(long[] bytes) {
    return bytes[0] + bytes[1];
  }

  private static long[] sent(Path stats) throws IOException {
    long[] bytes = new long[2];
    for (int rank = 0; rank < 2; rank++) {
      Path own = stats.resolve(Integer.toString(rank));
      if (!Files.isDirectory(own)) {
        continue;
      }
      for (ProcessStats.Row row : rows(own)) {
        if (row.direction() == StatsFile.Direction.SEND) {
          bytes[row.planeKey().equals("colour:2") ? 1 : 0] += row.bytes();
        }
      }
    }
    return bytes;
  }
}
