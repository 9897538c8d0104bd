package io.heddle.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.gateway.WanCapture.Sighting;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.GatewayConfigs;
import io.heddle.gateway.dataplane.Buckets;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.dataplane.FlowHash;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.gateway.probe.Probes;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a gateway in a WAN of SRv6 routers of the kernel. */
@EndsWithin(240)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class GatewayInWanTest {
  private static final int SEED = GatewayConfigs.parse(WanTopology.config("")).settings().seed();
  private static final int FIRST = 0x100;
  /* First number of IPv4 packets. Other senders count from 1, so numbers don't collide. */
  private static final long IPV4_NUMBERS = -1_000_000;
  private final GatewayConfig config = GatewayConfigs.parse(WanTopology.config(""));
  private WanTopology wan;
  private WanExchange traffic;

  @TempDir private Path folder;
  private Gateway gateway;

  @BeforeAll
  void build() throws Exception {
    Requirements.namespaces();
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
    wan = new WanTopology();
    traffic = new WanExchange(wan);
  }

  @AfterAll
  void tearDown() throws Exception {
    if (traffic != null) {
      traffic.close();
    }
    if (wan != null) {
      wan.close();
    }
  }

  @BeforeEach
  void start() throws Exception {
    gateway = wan.gw1.call(() -> Gateway.start(config, (level, sentence) -> {}));
    /* Neighbour discovery may delay or drop the first packets. */
    for (int list = 1; list <= 3; list++) {
      int queuePair = queuePairOn(list);
      traffic.sendUntilArrival(WanTopology.DESTINATION, queuePair);
    }
    for (int queuePair = FIRST; queuePair < FIRST + 40; queuePair++) {
      traffic.sendUntilArrival(WanTopology.PE_DESTINATION, queuePair);
    }
  }

  @AfterEach
  void remove() {
    if (gateway != null) {
      gateway.close();
    }
    wan.gw1.call(() -> {
      Gateway.remove(config);
      return null;
    });
  }

  private int hash(int queuePair) {
    return FlowHash.ofQueuePair(
        AddressText.parse(WanTopology.SOURCE),
        AddressText.parse(WanTopology.DESTINATION),
        WanSender.PORT,
        queuePair,
        SEED);
  }

  private int listByHash(int queuePair) {
    Buckets buckets = Buckets.ofWeights(Map.of(1, 1, 2, 1, 3, 1), Set.of(1, 2, 3));
    return buckets.list(FlowHash.bucket(hash(queuePair)));
  }

  private int queuePairOn(int list) {
    int queuePair = FIRST;
    while (listByHash(queuePair) != list) {
      queuePair++;
    }
    return queuePair;
  }

  private static SteerKey key(int queuePair) {
    return new SteerKey(AddressText.parse(WanTopology.DESTINATION), queuePair, null);
  }

  private void poll() {
    wan.gw1.call(() -> {
      gateway.poll();
      return null;
    });
  }

  /*
   * Polls the gateway until a condition holds. On a busy processor packets are counted late, so the
   * result of one poll may be outdated.
   */
  private void pollUntil(BooleanSupplier seen) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(30);
    poll();
    while (!seen.getAsBoolean()) {
      assertFalse(deadline.isOver(), () -> "still missing in: " + gateway.view());
      Thread.sleep(10);
      poll();
    }
  }

  /* Returns the gateway's flows to the destination, as of its newest sample, by queue pair. */
  private Map<Integer, GatewayStatus.Flow> flows() {
    Map<Integer, GatewayStatus.Flow> flows = new HashMap<>();
    for (GatewayStatus.Flow each : gateway.view().flows().flows()) {
      if (each.destination().equals(WanTopology.DESTINATION)) {
        flows.put(each.queuePair(), each);
      }
    }
    return flows;
  }

  @Test
  void labelAndListOfEachQueuePairAreConstantAndReported() throws Exception {
    List<Sighting> seen = traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 5);
    pollUntil(() -> IntStream.range(FIRST, FIRST + 64).allMatch(flows()::containsKey));
    Map<Integer, GatewayStatus.Flow> flows = flows();
    Set<Integer> labels = new TreeSet<>();
    Map<Integer, Integer> byPath = new HashMap<>();
    for (Sighting each : seen) {
      GatewayStatus.Flow flow = flows.get(each.queuePair());
      assertEquals(flow.flowLabel(), each.label(), "label of queue pair " + each.queuePair());
      assertEquals(FlowHash.label(hash(each.queuePair())), each.label());
      assertEquals("sl" + each.path(), flow.list());
      assertEquals(flow.listByHash(), flow.list());
      labels.add(each.label());
      byPath.merge(each.path(), 1, Integer::sum);
    }
    assertEquals(320, seen.size());
    assertEquals(64, labels.size(), "queue pairs of one 5-tuple have labels of their own");
    byPath.forEach((path, count) ->
        assertTrue(Math.abs(count / 320.0 - 1 / 3.0) < 0.15, "shares of 320: " + byPath));
    assertEquals(WanTopology.PATHS, byPath.size());
  }

  @Test
  void routerThatHashesTheLabelSpreadsQueuePairs() throws Exception {
    List<Sighting> seen =
        traffic.send(WanTopology.PE_DESTINATION, FlowHash.ROCE_PORT, FIRST, 600, 1);
    Map<Integer, Integer> byPath = new HashMap<>();
    seen.forEach(each -> byPath.merge(each.path(), 1, Integer::sum));
    /*
     * The seed of the kernel's hash is random, so shares vary: 0.15 is 7.8 standard deviations of
     * 600 packets.
     */
    for (int path = 1; path <= WanTopology.PATHS; path++) {
      assertEquals(1 / 3.0, byPath.getOrDefault(path, 0) / 600.0, 0.15, "shares of 600: " + byPath);
    }
    List<Sighting> again =
        traffic.send(WanTopology.PE_DESTINATION, FlowHash.ROCE_PORT, FIRST, 600, 1);
    Map<Integer, Integer> paths = new HashMap<>();
    seen.forEach(each -> paths.put(each.queuePair(), each.path()));
    again.forEach(each ->
        assertEquals(paths.get(each.queuePair()), each.path(), "a queue pair keeps its path"));
  }

  @Test
  void steerMovesExactlyOneQueuePairUntilItsRelease() throws Exception {
    int moved = queuePairOn(1);
    String done = gateway.steer(key(moved), "sl3");
    assertEquals("queue pair " + moved + " of fc00:2::2 is steered to sl3", done);
    for (Sighting each : traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 3)) {
      assertEquals(
          each.queuePair() == moved ? 3 : listByHash(each.queuePair()),
          each.path(),
          "queue pair " + each.queuePair());
    }
    pollUntil(() -> flows().containsKey(moved));
    GatewayStatus.Flow flow = flows().get(moved);
    assertEquals("sl3", flow.list());
    assertEquals("sl1", flow.listByHash());
    assertEquals("operator", flow.steeredBy());
    assertEquals("5f00:0:3::1", flow.outerDestination());
    GatewayStatus.Rule rule = gateway.view().rules().rules().getFirst();
    assertTrue(rule.active() && rule.used(), rule.toString());
    gateway.release(key(moved));
    for (Sighting each : traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 1)) {
      assertEquals(listByHash(each.queuePair()), each.path());
    }
    poll();
    assertNull(flows().get(moved).steeredBy());
    assertTrue(gateway.view().rules().rules().isEmpty());
  }

  @Test
  void steerMayBeLimitedToOneSource() throws Exception {
    int queuePair = queuePairOn(1);
    InetAddress destination = AddressText.parse(WanTopology.DESTINATION);
    gateway.steer(new SteerKey(destination, queuePair, AddressText.parse("fc00:1::9")), "sl2");
    traffic
        .send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, queuePair, 1, 3)
        .forEach(each -> assertEquals(1, each.path()));
    SteerKey ours = new SteerKey(destination, queuePair, AddressText.parse(WanTopology.SOURCE));
    gateway.steer(ours, "sl3");
    gateway.steer(key(queuePair), "sl2");
    traffic
        .send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, queuePair, 1, 3)
        .forEach(
            each -> assertEquals(3, each.path(), "the rule that names the source has precedence"));
    gateway.release(ours);
    traffic
        .send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, queuePair, 1, 3)
        .forEach(each -> assertEquals(2, each.path()));
    gateway.release(key(queuePair));
    gateway.release(new SteerKey(destination, queuePair, AddressText.parse("fc00:1::9")));
  }

  @Test
  void ipv4WithinSegmentsIsHashedLabelledSteeredAndUnwrapped() throws Exception {
    int port = WanSender.PORT;
    try (WanSender four = new WanSender(wan.h1, WanTopology.SOURCE_IPV4, IPV4_NUMBERS);
        DatagramSocket far =
            wan.h2.call(() ->
                new DatagramSocket(
                    new InetSocketAddress(
                        InetAddress.getByName(WanTopology.DESTINATION_IPV4),
                        FlowHash.ROCE_PORT)))) {
      far.setSoTimeout(1_000);
      Map<Integer, Integer> lists = new HashMap<>();
      for (int queuePair = FIRST; queuePair < FIRST + 64; queuePair++) {
        int hash =
            FlowHash.ofQueuePair(
                AddressText.parse(WanTopology.SOURCE_IPV4),
                AddressText.parse(WanTopology.DESTINATION_IPV4),
                port,
                queuePair,
                SEED);
        int list = ipv4Buckets().list(FlowHash.bucket(hash)) - WanTopology.FIRST_IPV4_LIST + 1;
        lists.put(queuePair, list);
        Sighting seen = traffic.sendAcross(four, far, queuePair);
        assertEquals(list, seen.path(), "queue pair " + queuePair);
        assertEquals(FlowHash.label(hash), seen.label());
      }
      assertEquals(Set.of(1, 2, 3), Set.copyOf(lists.values()));
      SteerKey key = new SteerKey(AddressText.parse(WanTopology.DESTINATION_IPV4), FIRST, null);
      int other = lists.get(FIRST) % WanTopology.PATHS + 1;
      gateway.steer(key, "four" + other);
      assertEquals(other, traffic.sendAcross(four, far, FIRST).path());
      assertEquals(lists.get(FIRST + 1), traffic.sendAcross(four, far, FIRST + 1).path());
      gateway.release(key);
      assertEquals(lists.get(FIRST), traffic.sendAcross(four, far, FIRST).path());
    }
  }

  private static Buckets ipv4Buckets() {
    int first = WanTopology.FIRST_IPV4_LIST;
    return Buckets.ofWeights(
        Map.of(first, 1, first + 1, 1, first + 2, 1), Set.of(first, first + 1, first + 2));
  }

  @Test
  void packetsOtherThanRoceAreHashedByTheFiveTuple() throws Exception {
    int port = 4790;
    int queuePair = queuePairOn(1);
    gateway.steer(key(queuePair), "sl3");
    int hash =
        FlowHash.of(
            AddressText.parse(WanTopology.SOURCE),
            AddressText.parse(WanTopology.DESTINATION),
            WanSender.PORT,
            port,
            FlowHash.UDP,
            0,
            SEED);
    int list =
        Buckets.ofWeights(Map.of(1, 1, 2, 1, 3, 1), Set.of(1, 2, 3)).list(FlowHash.bucket(hash));
    poll();
    long before = otherPackets();
    for (Sighting each : traffic.send(WanTopology.DESTINATION, port, FIRST, 64, 1)) {
      assertEquals(list, each.path());
      assertEquals(FlowHash.label(hash), each.label());
    }
    pollUntil(() -> otherPackets() >= before + 64);
    assertEquals(before + 64, otherPackets());
  }

  /* Returns the number of other packets, as of the gateway's newest sample. */
  private long otherPackets() {
    return gateway.view().lists().traffic().otherPackets();
  }

  @Test
  void onlyADeadListsQueuePairsMoveAndTheyReturn() throws Exception {
    gateway.steer(key(queuePairOn(1)), "sl2");
    List<Sighting> before = traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 1);
    assertTrue(before.stream().anyMatch(each -> each.path() == 2));
    wan.gw1.ip("link set w2 down");
    try {
      poll();
      GatewayStatus.SegmentList dead = gateway.view().lists().lists().get(1);
      assertFalse(dead.alive());
      assertEquals("the interface w2 is down or has no carrier", dead.reason());
      assertEquals(0, dead.buckets());
      assertFalse(gateway.view().rules().rules().getFirst().active());
      for (Sighting each :
          traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 1)) {
        if (listByHash(each.queuePair()) == 2) {
          assertNotEquals(2, each.path());
        } else {
          assertEquals(listByHash(each.queuePair()), each.path());
        }
      }
    } finally {
      /*
       * The kernel removes the addresses of an interface that goes down. It refuses the route until
       * an address is back.
       */
      wan.gw1.ip("link set w2 up");
      poll();
      assertFalse(gateway.view().lists().lists().get(1).alive());
      wan.gw1.ip("addr add fc00:12::1/64 dev w2 nodad");
    }
    await(GatewayStatus.SegmentList::alive, 1);
    traffic.sendUntilArrival(WanTopology.DESTINATION, queuePairOn(2));
    List<Sighting> after = traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 1);
    Map<Integer, Integer> paths = new HashMap<>();
    before.forEach(each -> paths.put(each.queuePair(), each.path()));
    after.forEach(each -> assertEquals(paths.get(each.queuePair()), each.path()));
  }

  @Test
  void probesMeasureEachListAndDetectARemoteFailure() throws Exception {
    gateway.close();
    GatewayConfig probing =
        GatewayConfigs.parse(
            WanTopology.config("probe-source = fc00:1::ff\nprobe-interval-ms = 10").stream()
                .map(line -> line.startsWith("colour") ? "probe = fc00:2::ff" : line)
                .toList());
    InetAddress reflector = AddressText.parse("fc00:2::ff");
    try (Probes far =
        wan.gw2.call(
            () -> Probes.start(List.of(), reflector, 1_000_000, (level, sentence) -> {}))) {
      gateway = wan.gw1.call(() -> Gateway.start(probing, (level, sentence) -> {}));
      await(list -> list.roundTripUs() != null, 0, 1, 2);
      GatewayStatus.SegmentList first = gateway.view().lists().lists().getFirst();
      assertTrue(first.roundTripUs() > 0 && first.alive(), first.toString());
      assertNull(gateway.view().lists().lists().get(3).lossShare(), "it isn't probed");
      wan.p.get(1).ip("route add blackhole 5f00:0:99::d6/128");
      await(list -> !list.alive(), 1);
      GatewayStatus.SegmentList dead = gateway.view().lists().lists().get(1);
      assertTrue(dead.reason().matches("the last [0-9]+ probes were lost"), dead.reason());
      assertTrue(dead.lossShare() > 0, dead.toString());
      assertTrue(gateway.view().lists().lists().get(0).alive());
      for (Sighting each :
          traffic.send(WanTopology.DESTINATION, FlowHash.ROCE_PORT, FIRST, 64, 1)) {
        assertTrue(each.path() != 2, "queue pair " + each.queuePair());
      }
      wan.p.get(1).ip("route del blackhole 5f00:0:99::d6/128");
      await(GatewayStatus.SegmentList::alive, 1);
    }
  }

  private void await(Predicate<GatewayStatus.SegmentList> wanted, int... lists)
      throws InterruptedException {
    pollUntil(
        () -> IntStream.of(lists).mapToObj(gateway.view().lists().lists()::get).allMatch(wanted));
  }

  @Test
  void largestFittingPacketIsReported() {
    List<GatewayStatus.SegmentList> lists = gateway.view().lists().lists();
    assertEquals(9000 - 40 - 8 - 32, lists.get(0).mtuBytes());
    assertEquals(9000 - 40 - 8 - 16, lists.get(3).mtuBytes());
  }

  @Test
  void killingTheProcessLosesNoPacketAndTheNextOneAdoptsItsDataPlane() throws Exception {
    gateway.close();
    Path file = folder.resolve("gateway.conf");
    Files.write(file, WanTopology.config("control = " + folder.resolve("gateway.sock")));
    int moved = queuePairOn(1);
    long first = traffic.next();
    int sent = 0;
    for (int life = 0; life < 3; life++) {
      Process process = startProcess(file, moved);
      try (BufferedReader words =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
        assertEquals("adopted true, rules " + (life == 0 ? 0 : 1), words.readLine());
        sent += traffic.sendWhile(FIRST, first, sent, process::destroyForcibly);
      } finally {
        process.destroyForcibly().waitFor();
      }
      sent += traffic.sendWhile(FIRST, first, sent, () -> {});
    }
    List<Sighting> seen = traffic.await(first, sent);
    assertEquals(sent, seen.stream().map(Sighting::number).distinct().count());
    seen.stream()
        .skip(64)
        .filter(each -> each.queuePair() == moved)
        .forEach(each -> assertEquals(3, each.path(), "the rule outlives the process"));
    gateway = wan.gw1.call(() -> Gateway.start(config, (level, sentence) -> {}));
    assertTrue(gateway.view().lists().adopted());
  }

  private Process startProcess(Path file, int queuePair) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(
        List.of(GatewayProcess.class.getName(), file.toString(), Integer.toString(queuePair)));
    return new ProcessBuilder(wan.gw1.command(command))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
