package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.fabric.StubFabric;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Queue pair numbers of packets between fabric a, with real queue pairs, and fabric b on the wire.
 */
class MappedForwarderTest {
  private static final Gid WIRE_HOST = new Gid(0, 0xffff_0a02_0001L);
  private static final Gid ON_VERBS = new Gid(0, 0xffff_0a01_00c8L);
  private static final Gid VERBS_HOST = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid ON_WIRE = new Gid(0, 0xffff_0a02_00c8L);
  private static final int KEY = 0x0123_4567;
  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int LENGTH = DatagramFormat.headerBytes(IMMEDIATE) + 8;
  private static final int ROUND = 1000;
  private static final ProxyAddresses PROXY_ADDRESSES =
      new ProxyAddresses(
          List.of(
              new ProxyAddress(0, ON_VERBS, WIRE_HOST), new ProxyAddress(1, ON_WIRE, VERBS_HOST)));
  private static final LoopRules RULES = new LoopRules(List.of(), List.of(), List.of());

  private final Arena arena = Arena.ofConfined();
  private final StubFabric verbs = new StubFabric(0x51, 0x52);
  private final StubFabric wire = new StubFabric();
  private final long packet = Memory.allocate(arena, 64, 8);
  private final long[] counters = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private final RecordingSidrService service = new RecordingSidrService();
  private final List<String> log = service.log;
  private long departed;
  private final MappedForwarder forwarder = forwarder(true);

  private MappedForwarder forwarder(boolean fixes) {
    QueuePairMapping mapping = new QueuePairMapping(2, fixes, List.of(7174));
    return new MappedForwarder(
        arena,
        MappedEnd.ofDevice(verbs, service),
        MappedEnd.ofSocket(wire),
        new UnicastSettings(0, Addresses.PROXIED, PROXY_ADDRESSES, mapping),
        mapping,
        counters,
        new Limiter(
            arena,
            1 << 16,
            1024,
            (flow, at, length, crc, digest, arrivedNs, nowNs) -> departed++,
            System.nanoTime()),
        new SplittableRandom(1));
  }

  @AfterEach
  void free() {
    arena.close();
  }

  private void put(int source, int destination, int immediate) {
    DatagramFormat.write(packet, IMMEDIATE, 0, destination, 1, KEY, source);
    DatagramFormat.setImmediate(packet, immediate);
  }

  /*
   * Sends a packet. Returns source, destination and immediate of the forwarded packet, or that it
   * was dropped.
   */
  private String send(int side, Gid from, Gid to) {
    StubFabric fabric = side == 0 ? verbs : wire;
    fabric.put(packet, LENGTH, from, to);
    long before = departed;
    forwarder.forward(side, 0, RULES, RULES, PROXY_ADDRESSES);
    return departed == before ? "dropped" : describe();
  }

  private String describe() {
    return String.format(
        Locale.ROOT,
        "0x%x to 0x%x, 0x%x",
        DatagramFormat.sourceQueuePair(packet),
        PacketFormat.queuePair(packet),
        DatagramFormat.immediate(packet));
  }

  private String fromWire(int source, int destination, int immediate) {
    put(source, destination, immediate);
    return send(1, WIRE_HOST, ON_WIRE);
  }

  private String fromVerbs(int source, int destination, int immediate) {
    put(source, destination, immediate);
    return send(0, VERBS_HOST, ON_VERBS);
  }

  @Test
  void mapsNumberInOneDirectionAndFindsItInTheOther() {
    assertEquals("[serves [10.1.0.200] [7174]]", log.toString());
    assertEquals("dropped", fromWire(0x11, 0x21, 0), "there is no path yet");
    assertEquals("a path from 10.1.0.200 to 10.1.0.1", log.getLast());
    verbs.sendPathBetween(ON_VERBS, VERBS_HOST, 0);
    assertEquals("0x51 to 0x21, 0x51", fromWire(0x11, 0x21, 0x11), "the immediate is mapped too");
    assertEquals("0x51 to 0x21, 0x99", fromWire(0x11, 0x21, 0x99), "it isn't the sender's number");
    assertEquals("0x21 to 0x11, 0x21", fromVerbs(0x21, 0x51, 0x21));
    assertEquals(List.of("10.2.0.200 to 10.2.0.1"), wire.sendPaths);
    assertEquals("0x52 to 0x21, 0x12", fromWire(0x13, 0x21, 0x12), "another one sends to the same");
    assertEquals("0x21 to 0x13, 0x0", fromVerbs(0x21, 0x52, 0));
    assertEquals("dropped", fromWire(0x14, 0x21, 0), "and none is free for a third");
    assertEquals("dropped", fromVerbs(0x22, 0x51, 0), "its owner never sent to that one");
  }

  @Test
  void dropsHostsWithoutProxyAddressAndManagementOnDevice() {
    verbs.sendPathBetween(ON_VERBS, VERBS_HOST, 0);
    put(0x11, 0x21, 0);
    assertEquals("dropped", send(1, ON_VERBS, ON_WIRE));
    assertEquals("dropped", send(1, WIRE_HOST, WIRE_HOST));
    assertEquals("dropped", fromVerbs(0x21, 1, 0));
    assertEquals("dropped", fromWire(0x11, 0, 0));
    assertEquals("dropped", fromWire(0x11, DatagramFormat.MULTICAST_QUEUE_PAIR, 0));
    assertEquals("dropped", fromWire(0x11, 1, 0), "without the key of queue pair 1");
    assertEquals(1, log.size(), "no host was asked");
  }

  @Test
  void keepsImmediateWhenConfigured() {
    verbs.sendPathBetween(ON_VERBS, VERBS_HOST, 0);
    put(0x11, 0x21, 0x11);
    wire.put(packet, LENGTH, WIRE_HOST, ON_WIRE);
    forwarder(false).forward(1, 0, RULES, RULES, PROXY_ADDRESSES);
    assertEquals("0x51 to 0x21, 0x11", describe());
  }

  @Test
  void forwardsBetweenHostsOwnAddresses() {
    ProxyAddresses own =
        new ProxyAddresses(
            List.of(
                new ProxyAddress(0, WIRE_HOST, WIRE_HOST),
                new ProxyAddress(1, VERBS_HOST, VERBS_HOST)));
    verbs.sendPathBetween(WIRE_HOST, VERBS_HOST, 0);
    put(0x11, 0x21, 0);
    wire.put(packet, LENGTH, WIRE_HOST, VERBS_HOST);
    forwarder.forward(1, 0, RULES, RULES, own);
    assertEquals("serves [10.2.0.1] [7174]", log.getLast(), "no path was missing");
    assertEquals("0x51 to 0x21, 0x0", describe());
    put(0x21, 0x51, 0);
    verbs.put(packet, LENGTH, VERBS_HOST, WIRE_HOST);
    forwarder.forward(0, 0, RULES, RULES, own);
    assertEquals("0x21 to 0x11, 0x0", describe());
    assertEquals(List.of("10.1.0.1 to 10.2.0.1"), wire.sendPaths);
    assertEquals(2, departed);
  }

  /*
   * A quarter of a million conversations are possible, too many for each to have its own path and
   * queue.
   */
  @Test
  void conversationsOfTwoHostsShareOnePath() {
    verbs.sendPathBetween(ON_VERBS, VERBS_HOST, 0);
    for (int verbsNumber = 0x21; verbsNumber < 0x2d; verbsNumber++) {
      fromWire(0x11, verbsNumber, 0);
      assertEquals("0x11", fromVerbs(verbsNumber, 0x51, 0).split(" to |,")[1]);
    }
    assertEquals(List.of("10.2.0.200 to 10.2.0.1"), wire.sendPaths);
  }

  @Test
  void allocatesNothingPerPacketOfConversation() {
    verbs.sendPathBetween(ON_VERBS, VERBS_HOST, 0);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    long allocated = -1;
    Deadline deadline = Deadline.ofSeconds(30);
    while (allocated != 0) {
      assertFalse(deadline.isOver(), "the last round allocated " + allocated + " bytes");
      long before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < ROUND; i++) {
        put(0x11, 0x21, 0x11);
        wire.put(packet, LENGTH, WIRE_HOST, ON_WIRE);
        forwarder.forward(1, 0, RULES, RULES, PROXY_ADDRESSES);
        put(0x21, 0x51, 0x21);
        verbs.put(packet, LENGTH, VERBS_HOST, ON_VERBS);
        forwarder.forward(0, 0, RULES, RULES, PROXY_ADDRESSES);
        forwarder.expire(0, System.nanoTime());
        forwarder.expire(1, System.nanoTime());
      }
      allocated = threads.getThreadAllocatedBytes(self) - before;
    }
  }
}
