package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightReason;
import io.heddle.routes.WeightRules;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of planes that lose their addresses and get new ones with another prefix, under a job that
 * checks every byte. This happens at one end alone, and at both ends at once. When the job ends,
 * none of the addresses with which it started is left. {@code ./heddle test --whole} continues for
 * some minutes.
 */
@EndsWithin(900)
@SystemTest
final class RenumberedPlanesTest {
  private static final int PLANES = 3;
  private static final int ROUNDS = Boolean.getBoolean("heddle.test.whole") ? 8 : 2;

  /* Interval of the publisher's heartbeats: longer than any test, so that it sends none. */
  private static final int HEARTBEAT_MS = 900_000;

  /*
   * Bandwidth that routes announce, and the weight that follows from it: for each plane's first
   * prefix, and for its later prefixes.
   */
  private static final int FIRST_MBPS = 100_000;
  private static final int FIRST_WEIGHT = 4096;
  private static final List<Integer> LATER_MBPS = List.of(25_000, 50_000, 100_000);
  private static final List<Integer> LATER_WEIGHTS = List.of(1024, 2048, 4096);

  @TempDir private Path folder;

  private final Map<String, String> addresses = new TreeMap<>();
  private RoutePublisher publisher;

  @AfterEach
  void stopPublishing() {
    if (publisher != null) {
      publisher.close();
    }
  }

  /*
   * Under the spray policy "packet", each queue pair spans all planes. So the plugin recreates the
   * queue pairs when any plane gets a new address.
   */
  @ParameterizedTest
  @ValueSource(strings = {"spray", "packet"})
  void renumberedPlanesReturnWithoutIntervention(String policy)
      throws IOException, InterruptedException {
    BuildOutputs.plugin();
    Skip.unless(Lab.Kind.NAMESPACES);
    Path stats = Files.createDirectory(folder.resolve("stats"));
    Path routes = folder.resolve("routes");
    Map<String, String> settings =
        Map.of(
            "HEDDLE_POLICY",
            policy,
            "HEDDLE_STATS_DIR",
            stats.toString(),
            "HEDDLE_ROUTES",
            routes.toString());
    publish(routes);
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, PLANES, 9000));
        CheckedPair job = CheckedPair.start(lab, folder, settings)) {
      for (int rank = 0; rank < 2; rank++) {
        for (int plane = 0; plane < PLANES; plane++) {
          String device = LabPlan.interfaceName(plane);
          addresses.put(rank + device, LabPlan.address(rank, plane));
          job.on(rank, "ip route add " + firstPrefix(plane) + "/64 metric 2000 dev " + device);
          job.on(rank, "ip route add " + laterPrefix(plane) + "/16 metric 2000 dev " + device);
        }
      }
      job.awaitAllCarry();
      boolean packet = policy.equals("packet");
      for (int round = 0; round < (packet ? 1 : ROUNDS); round++) {
        renumber(job, round);
        if (!packet) {
          awaitReturn(job, round);
        }
        job.awaitAllCarry();
      }
      renumberAllOf(job, 1);
      job.awaitAllCarry();
      awaitRows(stats, job);
      assertFewSockets(job);
      job.endCleanly();
    }
  }

  /*
   * Publishes routes as a route daemon would, with planes that have the names of their interfaces.
   */
  private void publish(Path file) {
    publisher =
        RoutePublisher.create(file, "a test", WeightRules.DEFAULT, HEARTBEAT_MS, NanoClock.SYSTEM);
    for (int plane = 0; plane < PLANES; plane++) {
      publisher.setPlane(new PublishedPlane("if:" + LabPlan.interfaceName(plane), null, 0, ""));
    }
    publisher.begin();
    for (int plane = 0; plane < PLANES; plane++) {
      set(firstPrefix(plane), 64, plane, FIRST_MBPS);
      set(laterPrefix(plane), 16, plane, LATER_MBPS.get(plane));
    }
    publisher.heartbeat();
    publisher.commit();
    publisher.goLive();
  }

  private void set(String prefix, int bits, int plane, int mbps) {
    Gid gid = Gid.of(InetAddress.ofLiteral(prefix));
    publisher.set(
        gid.high(), gid.low(), bits, plane, RouteCell.of(WeightReason.PATH_BANDWIDTH, mbps));
  }

  private static String firstPrefix(int plane) {
    return String.format(Locale.ROOT, "fd00:1:1:%x::", plane + 1);
  }

  private static String laterPrefix(int plane) {
    return String.format(Locale.ROOT, "fd%02x::", plane + 1);
  }

  /*
   * Renumbers plane 0 at one of the ends, in alternation, and then another plane at both ends. The
   * third plane carries the traffic meanwhile.
   */
  private void renumber(CheckedPair job, int round) throws IOException, InterruptedException {
    int alone = 1 - round % 2;
    int both = 1 + round % 2;
    List<String> moves = new ArrayList<>();
    moves.add(move(job, alone, 0, round, true));
    moves.add(move(job, 0, both, round, false));
    moves.add(move(job, 1, both, round, true));
    for (String each : moves) {
      job.awaitWord(each);
    }
  }

  /*
   * Renumbers all planes of a rank at once. The other host can't connect until this rank connects
   * and announces its addresses.
   */
  private void renumberAllOf(CheckedPair job, int rank) throws IOException, InterruptedException {
    List<String> gone = new ArrayList<>();
    List<String> added = new ArrayList<>();
    List<String> lines = new ArrayList<>();
    for (int plane = 0; plane < PLANES; plane++) {
      String device = LabPlan.interfaceName(plane);
      String old = addresses.get(rank + device);
      String fresh = freshAddress(rank, plane, ROUNDS);
      gone.add("addr del " + old + "/64 dev " + device);
      added.add("addr add " + fresh + "/64 nodad dev " + device);
      lines.add(logLineOf(device, old, fresh));
    }
    gone.addAll(added);
    Path batch = Files.write(folder.resolve("batch"), gone);
    job.on(rank, "ip -batch " + batch);
    for (String each : lines) {
      job.awaitWord(rank, each);
    }
  }

  private void awaitReturn(CheckedPair job, int round) throws InterruptedException {
    for (int plane : List.of(0, 1 + round % 2)) {
      String device = LabPlan.interfaceName(plane);
      for (int rank = 0; rank < 2; rank++) {
        job.awaitWord(
            rank,
            "back on plane if:%s (%s to %s)"
                .formatted(device, addresses.get(rank + device), addresses.get(1 - rank + device)));
      }
    }
  }

  /*
   * Moves a plane of a rank to its next address. Returns the line that the rank's log must then
   * contain.
   */
  private String move(CheckedPair job, int rank, int plane, int round, boolean newFirst)
      throws IOException, InterruptedException {
    String device = LabPlan.interfaceName(plane);
    String old = addresses.get(rank + device);
    String fresh = freshAddress(rank, plane, round);
    if (newFirst) {
      job.on(rank, "ip addr add " + fresh + "/64 nodad dev " + device);
      job.on(rank, "ip addr del " + old + "/64 dev " + device);
    } else {
      job.on(rank, "ip addr del " + old + "/64 dev " + device);
      job.on(rank, "ip addr add " + fresh + "/64 nodad dev " + device);
    }
    return logLineOf(device, old, fresh);
  }

  private String freshAddress(int rank, int plane, int round) {
    String fresh =
        String.format(
            Locale.ROOT, "fd%02x:%x::ff:fe00:%x", plane + 1, round + 1, (plane + 1) << 8 | rank);
    addresses.put(rank + LabPlan.interfaceName(plane), fresh);
    return fresh;
  }

  private static String logLineOf(String device, String old, String fresh) {
    return "%s on %s takes the place of its address %s".formatted(fresh, device, old);
  }

  /*
   * Asserts that a rank has few sockets: for its present addresses, and for those former addresses
   * that were in use when the present ones were added.
   */
  private static void assertFewSockets(CheckedPair job) throws IOException, InterruptedException {
    for (int rank = 0; rank < 2; rank++) {
      String sockets = job.on(rank, "ss -Hun -a sport = :4791");
      assertTrue(sockets.lines().count() <= 2 * PLANES, sockets);
      assertTrue(sockets.lines().count() >= PLANES, sockets);
    }
  }

  /* Waits until the statistics show the current addresses and weights of all open connections. */
  private void awaitRows(Path stats, CheckedPair job) throws IOException, InterruptedException {
    TreeSet<String> expected = new TreeSet<>();
    for (int plane = 0; plane < PLANES; plane++) {
      String device = LabPlan.interfaceName(plane);
      String one = addresses.get("0" + device);
      String other = addresses.get("1" + device);
      expected.add(row(plane, one, other));
      expected.add(row(plane, other, one));
    }
    Deadline deadline = Deadline.ofSeconds(30);
    TreeSet<String> found = rows(stats);
    while (!found.equals(expected) && !deadline.isOver()) {
      TimeUnit.MILLISECONDS.sleep(50);
      found = rows(stats);
    }
    assertEquals(expected, found, job::outputs);
  }

  private static String row(int plane, String local, String remote) {
    return "if:%s %s %s, %s by routes: path bandwidth"
        .formatted(
            LabPlan.interfaceName(plane),
            local,
            remote,
            remote.startsWith(firstPrefix(plane).replace("::", ":"))
                ? FIRST_WEIGHT
                : LATER_WEIGHTS.get(plane));
  }

  private static TreeSet<String> rows(Path stats) throws IOException {
    TreeSet<String> rows = new TreeSet<>();
    List<Path> files;
    try (Stream<Path> all = Files.list(stats)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    for (Path file : files) {
      for (ProcessStats.Row row : StatsReader.read(file)) {
        if (row.open()) {
          rows.add(
              "%s %s %s, %s by %s"
                  .formatted(
                      row.planeKey(),
                      Gid.of(row.local()),
                      Gid.of(row.remote()),
                      row.weight(),
                      row.weightSource()));
        }
      }
    }
    return rows;
  }
}
