package io.heddle.gateway.dataplane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.addr.RocePorts;
import io.heddle.bpf.BpfProgram;
import io.heddle.bpf.TcIngress;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the BPF program on single packets, which aren't sent, and on an interface. */
@EndsWithin(120)
@SystemTest
final class DataPlaneTest {
  private static final int SEED = 0x5eed;
  private static final int SHIFT = 16;
  private static final int PRIORITY = 18500;
  private static final DataPlaneSettings AT_ONCE = new DataPlaneSettings(SEED, SHIFT, 0, 0);
  private static final long HOUR_NS = 3_600_000_000_000L;
  private static final InetAddress SOURCE = AddressText.parse("fc00:1::1");
  private static final InetAddress DESTINATION = AddressText.parse("fc00:2::2");
  private static final Map<Integer, Integer> WEIGHTS = Map.of(1, 1, 2, 1, 3, 1);

  private DataPlane plane;

  @BeforeAll
  static void skipWithoutBpf() {
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
  }

  @BeforeEach
  void load() {
    plane = DataPlane.open(List.of(), PRIORITY);
    plane.configure(AT_ONCE);
    plane.setPolicies(Map.of(AddressPrefix.parse("fc00:2::/64"), 0));
    plane.setBuckets(0, Buckets.ofWeights(WEIGHTS, WEIGHTS.keySet()));
    WEIGHTS.keySet().forEach(list -> plane.setAlive(list, true));
  }

  @AfterEach
  void unload() {
    if (plane != null) {
      plane.close();
    }
  }

  private int listOf(byte[] packet) {
    return plane.program().run(packet, 1).mark() >>> SHIFT;
  }

  private static byte[] toQueuePair(int queuePair) {
    return TestPackets.roce(SOURCE, DESTINATION, 50_000, queuePair);
  }

  private int listByHash(int queuePair) {
    return plane
        .buckets(0)
        .list(FlowHash.bucket(FlowHash.ofQueuePair(SOURCE, DESTINATION, 50_000, queuePair, SEED)));
  }

  private FlowRecord flow(int queuePair) {
    return plane.flows().stream()
        .filter(each -> each.queuePair() == queuePair)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void programAndJavaComputeTheSameHash() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    plane.setPolicies(
        Map.of(AddressPrefix.parse("fc00:2::/32"), 0, AddressPrefix.parse("10.2.0.0/16"), 0));
    for (int i = 0; i < 500; i++) {
      boolean ipv6 = random.nextBoolean();
      int last = 1 + random.nextInt(254);
      InetAddress from = AddressText.parse(ipv6 ? "fc00:1::" + last : "10.1.0." + last);
      InetAddress to = AddressText.parse(ipv6 ? "fc00:2::" + i : "10.2.1." + i % 256);
      int sourcePort = random.nextInt(1 << 16);
      boolean roce = random.nextInt(4) > 0;
      /* Destination port of a packet that isn't RoCEv2: outside the range of the ranks' ports. */
      int beside = random.nextBoolean() ? RocePorts.STANDARD.last() + 1 : 1 + random.nextInt(4790);
      int port = roce ? FlowHash.ROCE_PORT + random.nextInt(RocePorts.COUNT) : beside;
      int queuePair = random.nextInt(1 << 24);
      int hash =
          roce
              ? FlowHash.ofQueuePair(from, to, sourcePort, queuePair, SEED)
              : FlowHash.of(from, to, sourcePort, port, FlowHash.UDP, 0, SEED);
      byte[] packet = TestPackets.udp(from, to, sourcePort, port, queuePair, random.nextInt(3));
      assertEquals(
          plane.buckets(0).list(FlowHash.bucket(hash)),
          listOf(packet),
          "packet " + i + " of seed " + seed);
      if (roce) {
        FlowRecord flow =
            plane.flows().stream()
                .filter(each -> each.queuePair() == queuePair && each.destination().equals(to))
                .findFirst()
                .orElseThrow();
        assertEquals(hash, flow.hash(), "packet " + i + " of seed " + seed);
        assertEquals(from, flow.source());
        assertEquals(sourcePort, flow.sourcePort());
      }
    }
  }

  @Test
  void flowsAndListsCountPacketsAndBytesOfIp() {
    plane.program().run(toQueuePair(17), 10);
    FlowRecord flow = flow(17);
    assertEquals(10, flow.packets());
    assertEquals(10L * TestPackets.ipBytes(SOURCE), flow.bytes());
    assertTrue(flow.firstNs() <= flow.lastNs() && flow.lastNs() <= System.nanoTime());
    PacketCount ten = new PacketCount(10, flow.bytes());
    assertEquals(Map.of(flow.list(), ten), plane.listCounters());
    assertEquals(ten, plane.counters().roce());
    assertEquals(PacketCount.NONE, plane.counters().steered());
  }

  @Test
  void steerMovesOneQueuePairUntilItsRelease() {
    int other = listByHash(17) % 3 + 1;
    SteerKey key = new SteerKey(DESTINATION, 17, null);
    plane.steer(Map.of(key, other));
    for (int queuePair = 2; queuePair < 200; queuePair++) {
      assertEquals(queuePair == 17 ? other : listByHash(queuePair), listOf(toQueuePair(queuePair)));
    }
    assertTrue(flow(17).steered());
    assertEquals(1, plane.counters().steered().packets());
    int last = RocePorts.STANDARD.last();
    assertEquals(other, listOf(TestPackets.udp(SOURCE, DESTINATION, 50_000, last, 17, 0)));
    assertTrue(plane.release(key));
    assertFalse(plane.release(key));
    assertEquals(listByHash(17), listOf(toQueuePair(17)));
    assertFalse(flow(17).steered());
  }

  @Test
  void steerMayBeLimitedToOneSource() {
    int other = listByHash(17) % 3 + 1;
    plane.steer(Map.of(new SteerKey(DESTINATION, 17, AddressText.parse("fc00:1::9")), other));
    assertEquals(listByHash(17), listOf(toQueuePair(17)));
    plane.steer(Map.of(new SteerKey(DESTINATION, 17, SOURCE), other));
    assertEquals(other, listOf(toQueuePair(17)));
  }

  @Test
  void managementAndOtherTrafficAreNeverSteered() {
    assertThrows(IllegalArgumentException.class, () -> new SteerKey(DESTINATION, 1, null));
    plane.steer(Map.of(new SteerKey(DESTINATION, 17, null), listByHash(17) % 3 + 1));
    assertEquals(listByHash(1), listOf(toQueuePair(1)));
    assertEquals(1, flow(1).packets());
    /* A packet to a port that isn't RoCEv2's, whose payload looks like a BTH to queue pair 17. */
    byte[] other = TestPackets.udp(SOURCE, DESTINATION, 50_000, 4790, 17, 0);
    int hash = FlowHash.of(SOURCE, DESTINATION, 50_000, 4790, FlowHash.UDP, 0, SEED);
    assertEquals(plane.buckets(0).list(FlowHash.bucket(hash)), listOf(other));
    assertEquals(1, plane.counters().other().packets());
    assertEquals(1, plane.flows().size());
  }

  @Test
  void longestPrefixSelectsThePolicy() {
    plane.setPolicies(
        Map.of(AddressPrefix.parse("fc00:2::/48"), 1, AddressPrefix.parse("fc00:2::/64"), 0));
    plane.setBuckets(1, Buckets.ofWeights(Map.of(9, 1), Set.of(9)));
    assertEquals(listByHash(17), listOf(toQueuePair(17)));
    InetAddress near = AddressText.parse("fc00:2:0:1::2");
    assertEquals(9, listOf(TestPackets.roce(SOURCE, near, 50_000, 17)));
    InetAddress far = AddressText.parse("fc00:3::2");
    assertEquals(0, listOf(TestPackets.roce(SOURCE, far, 50_000, 17)));
    assertEquals(1, plane.counters().noPolicy().packets());
    plane.setPolicies(Map.of());
    assertEquals(0, listOf(toQueuePair(17)));
  }

  @Test
  void moveWaitsForAGapUnlessItsListIsDead() {
    int before = listOf(toQueuePair(17));
    int after = before % 3 + 1;
    plane.configure(new DataPlaneSettings(SEED, SHIFT, HOUR_NS, HOUR_NS));
    plane.steer(Map.of(new SteerKey(DESTINATION, 17, null), after));
    assertEquals(before, listOf(toQueuePair(17)), "an hour hasn't passed");
    assertEquals(1, plane.counters().held().packets());
    plane.configure(new DataPlaneSettings(SEED, SHIFT, 1, HOUR_NS));
    assertEquals(after, listOf(toQueuePair(17)), "it has paused for a nanosecond");
    plane.configure(new DataPlaneSettings(SEED, SHIFT, HOUR_NS, 1));
    plane.release(new SteerKey(DESTINATION, 17, null));
    listOf(toQueuePair(17));
    assertEquals(before, listOf(toQueuePair(17)), "the deadline of a nanosecond has passed");
    plane.configure(new DataPlaneSettings(SEED, SHIFT, HOUR_NS, HOUR_NS));
    plane.setAlive(before, false);
    plane.steer(Map.of(new SteerKey(DESTINATION, 17, null), after));
    assertEquals(after, listOf(toQueuePair(17)), "no queue pair waits on a dead list");
  }

  @Test
  void truncatedAndForeignPacketsPassUnchanged() {
    byte[] packet = toQueuePair(17);
    /* The kernel's test run refuses packets shorter than an IPv6 header. */
    for (int length = 14 + 40; length < packet.length; length++) {
      plane.program().run(java.util.Arrays.copyOf(packet, length), 1);
    }
    plane.program().run(new byte[60], 1);
    assertEquals(1, plane.counters().notIp().packets());
    int withTransportHeader = 64 - 12;
    assertEquals(withTransportHeader, plane.counters().roce().packets());
    assertEquals(packet.length - 14 - 40 - withTransportHeader, plane.counters().other().packets());
  }

  @Test
  void thousandsOfSteersAndFlowsAreReadBack() {
    Map<SteerKey, Integer> steers = new HashMap<>();
    for (int queuePair = 2; queuePair < 10_002; queuePair++) {
      steers.put(new SteerKey(DESTINATION, queuePair, null), 1 + queuePair % 3);
    }
    plane.steer(steers);
    assertEquals(steers, plane.steers());
    for (int queuePair = 2; queuePair < 5_002; queuePair++) {
      plane.program().run(toQueuePair(queuePair), 1);
    }
    List<FlowRecord> flows = plane.flows();
    assertEquals(5_000, flows.size(), "more than one batch");
    flows.forEach(each -> assertEquals(1 + each.queuePair() % 3, each.list()));
  }

  @Test
  void nextProcessAdoptsProgramFlowsAndSteers() {
    Requirements.namespaces();
    try (NetworkNamespaces net =
        NetworkTopology.of("gateway").link("gateway lan", "gateway far").create()) {
      NetworkNamespace host = net.node("gateway");
      host.call(() -> {
        int index = LinuxCalls.interfaceIndex("lan");
        SteerKey key = new SteerKey(DESTINATION, 17, null);
        int program;
        try (DataPlane first = DataPlane.open(List.of(index), PRIORITY)) {
          assertFalse(first.isAdopted());
          first.configure(AT_ONCE);
          first.setPolicies(Map.of(AddressPrefix.parse("fc00:2::/64"), 0));
          first.attach();
          first.attach();
          first.steer(Map.of(key, 3));
          first.program().run(toQueuePair(17), 5);
          program = first.program().id();
        }
        try (DataPlane second = DataPlane.open(List.of(index), PRIORITY)) {
          assertTrue(second.isAdopted());
          assertEquals(program, second.program().id());
          assertEquals(Map.of(key, 3), second.steers());
          assertEquals(5, second.flows().getFirst().packets());
          second.configure(AT_ONCE);
          assertEquals(3, second.program().run(toQueuePair(17), 1).mark() >>> SHIFT);
          second.remove();
        }
        assertTrue(new TcIngress(index, PRIORITY, 1).find().isEmpty());
        return null;
      });
    }
  }

  @Test
  void programOfAnotherBuildIsReplacedInOneStep() {
    Requirements.namespaces();
    try (NetworkNamespaces net =
        NetworkTopology.of("gateway").link("gateway lan", "gateway far").create()) {
      NetworkNamespace host = net.node("gateway");
      host.call(() -> {
        int index = LinuxCalls.interfaceIndex("lan");
        TcIngress place = new TcIngress(index, PRIORITY, 1);
        /* The settings have no digest, so the program looks like one of another build. */
        place.attach(plane.program());
        plane.program().map("settings").put(GatewayMaps.number(0), new byte[40]);
        int old = plane.program().id();
        try (DataPlane fresh = DataPlane.open(List.of(index), PRIORITY)) {
          assertFalse(fresh.isAdopted());
          fresh.configure(AT_ONCE);
          try (BpfProgram there = place.find().orElseThrow()) {
            assertEquals(old, there.id(), "the old program works until the new one does");
          }
          fresh.attach();
          try (BpfProgram there = place.find().orElseThrow()) {
            assertEquals(fresh.program().id(), there.id());
          }
        }
        return null;
      });
    }
  }

  @Test
  void steersWithoutRoomAreReturnedAndTheOthersApply() {
    int room = plane.program().map("steers").maxEntries();
    Map<SteerKey, Integer> wanted = new HashMap<>();
    for (int queuePair = 2; queuePair < 2 + room + 3; queuePair++) {
      wanted.put(new SteerKey(DESTINATION, queuePair, null), 2);
    }
    Set<SteerKey> without = plane.steer(wanted);
    assertEquals(3, without.size());
    assertEquals(room, plane.steers().size());
    wanted.keySet().removeAll(without);
    assertEquals(wanted, plane.steers());
    SteerKey first = without.iterator().next();
    SteerKey other = wanted.keySet().iterator().next();
    assertEquals(
        Set.of(first), plane.steer(Map.of(first, 1, other, 3)), "one that is there is changed");
    assertEquals(3, listOf(toQueuePair(other.queuePair())));
    plane.release(other);
    assertEquals(Set.of(), plane.steer(Map.of(first, 1)));
    plane.steers().keySet().forEach(plane::release);
    assertEquals(listByHash(first.queuePair()), listOf(toQueuePair(first.queuePair())));
  }
}
