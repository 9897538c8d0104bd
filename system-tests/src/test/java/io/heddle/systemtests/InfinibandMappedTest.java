package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.VerbsSpec;
import io.heddle.bridge.infiniband.RdmaCmSidrService;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.MappedEnd;
import io.heddle.bridge.unicast.MappedForwarder;
import io.heddle.bridge.unicast.ProxyAddress;
import io.heddle.bridge.unicast.ProxyAddresses;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.bridge.verbs.VerbsFabric;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of unicast datagrams between two InfiniBand subnets of the stand-in for libibverbs, with
 * the test double of librdmacm. Each subnet is a partition with the bridge's port and two hosts.
 * Packets have LIDs and no IP addresses. The tests run in a separate process, like {@link
 * InfinibandDatagramTest}.
 *
 * <pre>
 *  standin4 a1, standin5 a2 ══ 0x8001 ══ standin2 [bridge] standin3 ══ 0x8003 ══ standin6 b1, standin7 b2
 * </pre>
 */
@EndsWithin(60)
@SystemTest
final class InfinibandMappedTest {
  private static final int A = 0;
  private static final int B = 1;
  private static final int EACH = 4;
  private static final int QUEUE_PAIRS = 10;
  private static final int WORDS = 20;
  private static final int ROUND = 200;
  private static final LoopRules RULES = new LoopRules(List.of(), List.of(), List.of());

  private final Arena arena = Arena.ofShared();
  private final long counters = Memory.allocate(arena, 8192, 8);
  private final long[] directions = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private final List<String> output = new ArrayList<>();
  private final List<String> undo = new ArrayList<>();
  private final List<VerbsFabric> ends = new ArrayList<>();
  private final List<SubnetHost> hosts = new ArrayList<>();
  private ProxyAddresses proxyAddresses;
  private MappedForwarder forwarder;
  private SubnetHost a1;
  private SubnetHost a2;
  private SubnetHost b1;
  private SubnetHost b2;

  @BeforeAll
  static void requireStandin() {
    BuildOutputs.standin();
    BuildOutputs.standinManager();
    if (!"infiniband".equals(System.getenv("STANDIN_LINK"))) {
      Skip.because("this process doesn't have the stand-in's environment");
    }
  }

  private static Gid gid(String address) {
    try {
      return Gid.of(InetAddress.getByName(address));
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }

  @BeforeEach
  void open() {
    proxyAddresses =
        new ProxyAddresses(
            List.of(
                new ProxyAddress(A, gid("10.1.0.201"), gid("10.2.0.1")),
                new ProxyAddress(A, gid("10.1.0.202"), gid("10.2.0.2")),
                new ProxyAddress(A, gid("fd01::c9"), gid("fd02::1")),
                new ProxyAddress(B, gid("10.2.0.201"), gid("10.1.0.1")),
                new ProxyAddress(B, gid("10.2.0.202"), gid("10.1.0.2")),
                new ProxyAddress(B, gid("fd02::c9"), gid("fd01::1"))));
    QueuePairMapping mapping = new QueuePairMapping(QUEUE_PAIRS, true, List.of(SubnetHost.PORT));
    forwarder =
        new MappedForwarder(
            arena,
            end(A, "standin2", "10.1.0.254"),
            end(B, "standin3", "10.2.0.254"),
            new UnicastSettings(0, Addresses.PROXIED, proxyAddresses, mapping),
            mapping,
            directions,
            new Limiter(
                arena,
                1 << 20,
                8192,
                (flow, at, length, crc, digest, arrivedNs, nowNs) ->
                    ends.get(flow.side())
                        .packets()
                        .send(flow.sendPath(), at, length, crc, flow.counters(), arrivedNs),
                System.nanoTime()),
            new SplittableRandom(7));
    a1 = host("standin4", "10.1.0.1", EACH, List.of("10.1.0.1", "fd01::1"));
    a2 = host("standin5", "10.1.0.2", EACH, List.of("10.1.0.2"));
    b1 = host("standin6", "10.2.0.1", 1, List.of("10.2.0.1", "fd02::1"));
    b2 = host("standin7", "10.2.0.2", 1, List.of("10.2.0.2"));
  }

  private MappedEnd end(int side, String device, String address) {
    VerbsSpec spec =
        new VerbsSpec(
            side == A ? "a" : "b",
            device,
            List.of(gid(address)),
            proxyAddresses.addressesIn(side),
            QUEUE_PAIRS,
            1);
    VerbsFabric fabric =
        VerbsFabric.open(spec, (level, sentence) -> output.add(sentence), counters);
    ends.add(fabric);
    fabric.requireAssigned(spec);
    return MappedEnd.ofDevice(
        fabric,
        RdmaCmSidrService.open(
            fabric, fabric.hosts(), device, 0, (level, sentence) -> output.add(sentence)));
  }

  private SubnetHost host(String device, String address, int queuePairs, List<String> services) {
    SubnetHost host = new SubnetHost(device, gid(address), queuePairs, this::forwardAll);
    hosts.add(host);
    host.serve(services.stream().map(InfinibandMappedTest::gid).toList());
    return host;
  }

  @AfterEach
  void close() throws Exception {
    for (String each : undo) {
      StandinControl.run(each);
    }
    hosts.forEach(SubnetHost::close);
    forwarder.close();
    ends.forEach(VerbsFabric::close);
    arena.close();
  }

  private void change(String what, int value) throws Exception {
    undo.add(what + " 0");
    StandinControl.run(what + " " + value);
  }

  /* Polls the services and the bridge once. The bridge runs without threads of its own here. */
  private void forwardAll() {
    for (int side = 0; side < 2; side++) {
      int trains = ends.get(side).packets().poll();
      for (int train = 0; train < trains; train++) {
        forwarder.forward(side, train, RULES, RULES, proxyAddresses);
      }
      ends.get(1 - side).packets().flush();
      forwarder.expire(side, System.nanoTime());
    }
    b1.answer();
    b2.answer();
  }

  private static Gid inA(SubnetHost host) {
    return gid("10.1.0.20" + (host.address().low() & 0xff));
  }

  private static Gid inB(SubnetHost host) {
    return gid("10.2.0.20" + (host.address().low() & 0xff));
  }

  private long dropped(int side, DropReason reason) {
    return GroupCounters.drops(directions[side], reason);
  }

  /*
   * Sends a word to the server and another word back. Returns the queue pair number by which the
   * server knows the client.
   */
  private int exchange(SubnetHost client, int index, SubnetHost server, int service, long word) {
    client.send(index, inA(server), service, word);
    SubnetHost.Received there = server.receive();
    assertEquals(word, there.word());
    assertEquals(server.number(0), there.to());
    server.send(0, inB(client), there.from(), -word);
    SubnetHost.Received back = client.receive();
    assertEquals(new SubnetHost.Received(client.number(index), service, -word), back);
    return there.from();
  }

  @Test
  void clientsOfTwoHostsReachTwoServicesWithoutMixUp() {
    int[] services = {a1.numberOf(inA(b1)), a2.numberOf(inA(b1))};
    int[] others = {a1.numberOf(inA(b2)), a2.numberOf(inA(b2))};
    assertNotEquals(services[0], others[0], "its port learns no address, so numbers differ");
    for (int word = 1; word <= WORDS; word++) {
      Set<Integer> known = new HashSet<>();
      for (int index = 0; index < EACH; index++) {
        known.add(exchange(a1, index, b1, services[0], 100L * word + index));
        known.add(exchange(a2, index, b1, services[1], 100L * word + 10 + index));
        exchange(a2, index, b2, others[1], 100L * word + 20 + index);
        exchange(a1, index, b2, others[0], 100L * word + 30 + index);
      }
      assertEquals(2 * EACH, known.size(), "each client has a number of its own");
    }
    assertEquals(0, dropped(A, DropReason.NO_PATH) + dropped(A, DropReason.NO_QUEUE_PAIR));
  }

  @Test
  void aPortsTwoAddressesAreTwoHosts() {
    int four = a1.numberOf(inA(b1));
    int six = a1.numberOf(gid("fd01::1"), gid("fd01::c9"));
    assertNotEquals(four, six);
    exchange(a1, 0, b1, four, 1);
    a1.send(1, inA(b1), six, 2);
    assertEquals(2, b1.receive().word());
  }

  @Test
  void retriesLostRequestAndAnswersRepeatsAlike() throws Exception {
    int service = a1.numberOf(inA(b1));
    StandinControl.run("refuse 0/4 rdma_question " + Errno.ETIMEDOUT);
    assertEquals(3, a1.request(a1.address(), inA(b1), SubnetHost.PORT).status(), "it got lost");
    StandinControl.run("refuse 0/3 rdma_question " + Errno.ETIMEDOUT);
    SidrService.Answer refused = a1.request(a1.address(), inA(b1), SubnetHost.PORT);
    assertNotEquals(0, refused.status(), "the bridge's got lost");
    assertEquals(service, a1.numberOf(inA(b1)));
    exchange(a1, 0, b1, service, 1);
    SidrService.Answer nobody = a1.request(a1.address(), inA(b1), SubnetHost.PORT + 1);
    assertEquals(1, nobody.status(), "nobody listens there");
  }

  @Test
  void hostWithNewLidContinuesAfterPathQuery() throws Exception {
    int service = a1.numberOf(inA(b1));
    int client = exchange(a1, 0, b1, service, 1);
    change("lid 0/4", 77);
    a1.send(0, inA(b1), service, 2);
    forwardAll();
    assertEquals(List.of(), b1.poll(), "77 is unassigned yet");
    assertEquals(1, dropped(A, DropReason.NO_PATH));
    b1.send(0, inB(a1), client, 3);
    forwardAll();
    assertEquals(List.of(), a1.poll(), "its old LID is unassigned");
    StandinControl.run("event 0/2 IBV_EVENT_CLIENT_REREGISTER");
    Deadline deadline = Deadline.ofSeconds(20);
    while (a1.poll().isEmpty()) {
      assertFalse(deadline.isOver(), "the path wasn't asked again");
      ends.forEach(each -> assertEquals("", each.check()));
      b1.send(0, inB(a1), client, 5);
      forwardAll();
    }
    assertEquals(client, exchange(a1, 0, b1, service, 6), "they are unaffected");
  }

  @Test
  void hostWithReusedLidIsNotConfused() throws Exception {
    int[] services = {a1.numberOf(inA(b1)), a2.numberOf(inA(b1))};
    int first = exchange(a1, 0, b1, services[0], 1);
    int second = exchange(a2, 0, b1, services[1], 2);
    change("lid 0/4", 77);
    change("lid 0/5", 5);
    assertEquals(services[1], a2.numberOf(inA(b1)), "a request announces the other LID at once");
    a1.send(0, inA(b1), services[0], 3);
    b1.send(0, inB(a1), first, 4);
    forwardAll();
    /* The communication manager may have reported a1's other LID already. */
    b1.poll().forEach(each -> assertEquals(new SubnetHost.Received(b1.number(0), first, 3), each));
    a1.poll().forEach(each -> assertEquals(4, each.word()));
    exchange(a2, 0, b1, services[1], 5);
    /* The new queue pair number shows that a2's port has the other LID. */
    a2.send(1, inA(b1), services[0], 6);
    SubnetHost.Received heard = b1.receive();
    assertEquals(6, heard.word());
    assertNotEquals(first, heard.from());
    assertNotEquals(second, heard.from());
    b1.send(0, inB(a2), heard.from(), 7);
    assertEquals(new SubnetHost.Received(a2.number(1), services[0], 7), a2.receive());
    assertEquals(services[0], a1.numberOf(inA(b1)));
    assertEquals(first, exchange(a1, 0, b1, services[0], 8));
  }

  @Test
  void routedPacketsIdentifyPortByGlobalRouteHeader() throws Exception {
    change("hops 0/4", 3);
    change("hops 0/2", 3);
    int service = a1.numberOf(inA(b1));
    exchange(a1, 0, b1, service, 1);
    change("lid 0/4", 78);
    a1.send(0, inA(b1), service, 2);
    assertEquals(2, b1.receive().word(), "independent of its LID");
  }

  @Test
  void packetsAllocateNothing() {
    int service = a1.numberOf(inA(b1));
    int client = exchange(a1, 0, b1, service, 1);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    long allocated = -1;
    Deadline deadline = Deadline.ofSeconds(30);
    while (allocated != 0) {
      assertFalse(deadline.isOver(), "the last round allocated " + allocated + " bytes");
      allocated = 0;
      for (int i = 0; i < ROUND; i++) {
        a1.send(0, inA(b1), service, i);
        b1.send(0, inB(a1), client, i);
        long before = threads.getThreadAllocatedBytes(self);
        for (int side = 0; side < 2; side++) {
          int trains = ends.get(side).packets().poll();
          for (int train = 0; train < trains; train++) {
            forwarder.forward(side, train, RULES, RULES, proxyAddresses);
          }
          ends.get(1 - side).packets().flush();
          forwarder.expire(side, System.nanoTime());
        }
        allocated += threads.getThreadAllocatedBytes(self) - before;
        assertTrue(a1.poll().size() <= 1 && b1.poll().size() <= 1);
      }
    }
  }
}
