package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.cm.SidrService;
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
 * Requests and packets between two fabrics with real queue pairs. The bridge's queue pairs are 0x51
 * and 0x52 in fabric a, 0x61 and 0x62 in fabric b.
 */
class TwoDevicesTest {
  private static final Gid HOST_A = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid HOST_B = new Gid(0, 0xffff_0a02_0001L);
  private static final Gid B_IN_A = new Gid(0, 0xffff_0a01_00c8L);
  private static final Gid A_IN_B = new Gid(0, 0xffff_0a02_00c8L);
  private static final Gid UNKNOWN = new Gid(0, 0xffff_0a01_0063L);
  private static final int A = 0;
  private static final int B = 1;
  private static final int KEY = 0x0123_4567;
  private static final int PORT = 7174;
  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int LENGTH = DatagramFormat.headerBytes(IMMEDIATE) + 8;
  private static final int ROUND = 1000;
  private static final List<Byte> WORD = List.of((byte) 1, (byte) 2, (byte) 3);
  private static final LoopRules RULES = new LoopRules(List.of(), List.of(), List.of());
  private static final ProxyAddresses PROXY_ADDRESSES =
      new ProxyAddresses(
          List.of(new ProxyAddress(A, B_IN_A, HOST_B), new ProxyAddress(B, A_IN_B, HOST_A)));
  private static final QueuePairMapping MAPPING = new QueuePairMapping(2, true, List.of(PORT));

  private final Arena arena = Arena.ofConfined();
  private final StubFabric a = new StubFabric(0x51, 0x52);
  private final StubFabric b = new StubFabric(0x61, 0x62);
  private final RecordingSidrService managerA = new RecordingSidrService();
  private final RecordingSidrService managerB = new RecordingSidrService();
  private final long packet = Memory.allocate(arena, 64, 8);
  private final long[] counters = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private long departed;
  private final MappedForwarder forwarder =
      new MappedForwarder(
          arena,
          MappedEnd.ofDevice(a, managerA),
          MappedEnd.ofDevice(b, managerB),
          new UnicastSettings(0, Addresses.PROXIED, PROXY_ADDRESSES, MAPPING),
          MAPPING,
          counters,
          new Limiter(
              arena,
              1 << 16,
              1024,
              (flow, at, length, crc, digest, arrivedNs, nowNs) -> departed++,
              System.nanoTime()),
          new SplittableRandom(1));

  @AfterEach
  void free() {
    forwarder.close();
    arena.close();
  }

  private void makePaths() {
    a.sendPathBetween(B_IN_A, HOST_A, 0);
    b.sendPathBetween(A_IN_B, HOST_B, 0);
  }

  /* Does the work of one round of the data thread. */
  private void check(long nowNs) {
    forwarder.expire(A, nowNs);
    forwarder.expire(B, nowNs);
  }

  private void put(int source, int destination, int immediate) {
    DatagramFormat.write(packet, IMMEDIATE, 0, destination, 1, KEY, source);
    DatagramFormat.setImmediate(packet, immediate);
  }

  private String send(int side, Gid from, Gid to) {
    (side == A ? a : b).put(packet, LENGTH, from, to);
    long before = departed;
    forwarder.forward(side, 0, RULES, RULES, PROXY_ADDRESSES);
    return departed == before
        ? "dropped"
        : String.format(
            Locale.ROOT,
            "0x%x to 0x%x, 0x%x by 0x%x",
            DatagramFormat.sourceQueuePair(packet),
            PacketFormat.queuePair(packet),
            DatagramFormat.immediate(packet),
            DatagramFormat.queueKey(packet));
  }

  private String fromA(int source, int destination, int immediate) {
    put(source, destination, immediate);
    return send(A, HOST_A, B_IN_A);
  }

  private String fromB(int source, int destination, int immediate) {
    put(source, destination, immediate);
    return send(B, HOST_B, A_IN_B);
  }

  /*
   * Resolves a service in fabric b for a client in fabric a; the service's host answers with this
   * number.
   */
  private void serve(long question, int number, int key) {
    managerA.heard.add(
        new SidrService.IncomingSidrRequest(question, B_IN_A, PORT, HOST_A, 9, WORD));
    check(0);
    assertEquals("10.2.0.200 asks 10.2.0.1 for 7174 with [1, 2, 3]", managerB.log.getLast());
    managerB.heard.add(new SidrService.Answer(managerB.token, 0, number, key, WORD));
    check(1);
  }

  @Test
  void clientGetsNumberOfBridgeAndCommunicatesInBothDirections() {
    assertEquals("[serves [10.1.0.200] [7174]]", managerA.log.toString());
    assertEquals("[serves [10.2.0.200] [7174]]", managerB.log.toString());
    serve(41, 0x70, 5);
    assertEquals("41 is 0x52", managerA.log.getLast());
    assertEquals("dropped", fromA(0x11, 0x52, 0x11), "there is no path yet");
    assertEquals("a path from 10.2.0.200 to 10.2.0.1", managerB.log.getLast());
    makePaths();
    assertEquals("0x61 to 0x70, 0x61 by 0x5", fromA(0x11, 0x52, 0x11), "with the service's key");
    assertEquals("0x52 to 0x11, 0x52 by 0x1234567", fromB(0x70, 0x61, 0x70));
    assertEquals("0x62 to 0x70, 0x99 by 0x5", fromA(0x12, 0x52, 0x99));
    assertEquals(
        "0x52 to 0x12, 0x0 by 0x1234567", fromB(0x70, 0x62, 0), "two clients, two numbers");
    assertEquals("dropped", fromA(0x13, 0x52, 0), "and none for a third");
    assertEquals("dropped", fromB(0x71, 0x61, 0), "that one sent no request");
    assertEquals("dropped", fromA(0x11, 0x51, 0), "that number is unassigned");
    assertEquals("dropped", fromA(0x11, 1, 0), "queue pair 1 is the kernel's");
  }

  @Test
  void requestsFromBothFabricsShareEarlierConversation() {
    makePaths();
    serve(41, 0x70, KEY);
    assertEquals("0x61 to 0x70, 0x0 by 0x1234567", fromA(0x11, 0x52, 0));
    /* The client's queue pair is also a service, which the host in fabric b requests now. */
    managerB.heard.add(new SidrService.IncomingSidrRequest(42, A_IN_B, PORT, HOST_A, 9, WORD));
    check(2);
    assertEquals("42 is refused", managerB.log.getLast(), "that's no host of b");
    managerB.heard.add(new SidrService.IncomingSidrRequest(43, A_IN_B, PORT, HOST_B, 9, WORD));
    check(3);
    assertEquals("10.1.0.200 asks 10.1.0.1 for 7174 with [1, 2, 3]", managerA.log.getLast());
    managerA.heard.add(new SidrService.Answer(managerA.token, 0, 0x11, 7, WORD));
    check(4);
    assertEquals("43 is 0x62", managerB.log.getLast());
    assertEquals("0x51 to 0x11, 0x0 by 0x7", fromB(0x71, 0x62, 0));
    assertEquals(
        "0x52 to 0x11, 0x0 by 0x1234567", fromB(0x70, 0x62, 0), "they communicate already");
    assertEquals("0x52 to 0x11, 0x0 by 0x1234567", fromB(0x70, 0x61, 0));
    assertEquals("0x61 to 0x70, 0x0 by 0x1234567", fromA(0x11, 0x52, 0));
  }

  @Test
  void rejectsRefusedAndUnansweredRequests() {
    managerA.heard.add(new SidrService.IncomingSidrRequest(41, B_IN_A, PORT, UNKNOWN, 9, WORD));
    check(0);
    assertEquals("41 is refused", managerA.log.getLast(), "it has no proxy address in b");
    managerA.heard.add(new SidrService.IncomingSidrRequest(42, B_IN_A, PORT, HOST_A, 9, WORD));
    check(1);
    managerB.heard.add(new SidrService.Answer(managerB.token, 1, 0, 0, WORD));
    check(2);
    assertEquals("42 is refused", managerA.log.getLast());
    managerA.heard.add(new SidrService.IncomingSidrRequest(43, B_IN_A, PORT, HOST_A, 9, WORD));
    check(3);
    int forwarded = managerB.log.size();
    check(9_000_000_000L);
    assertEquals(forwarded, managerB.log.size(), "the kernel's manager repeats requests by itself");
    check(10_000_000_003L);
    assertEquals("43 is refused", managerA.log.getLast());
    managerB.heard.add(new SidrService.Answer(managerB.token, 0, 0x70, 5, WORD));
    check(10_000_000_004L);
    assertEquals("43 is refused", managerA.log.getLast(), "it came too late");
  }

  @Test
  void reportsFaultsOfBothManagersAndClosesBoth() {
    assertEquals("", forwarder.check());
    managerB.fail("b has none");
    assertEquals("b has none", forwarder.check());
    managerA.fail("a has none");
    assertEquals("a has none; b has none", forwarder.check());
    forwarder.close();
    assertEquals("closed", managerA.log.getLast());
    assertEquals("closed", managerB.log.getLast());
  }

  @Test
  void allocatesNothingPerPacketOfConversation() {
    makePaths();
    serve(41, 0x70, KEY);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    long allocated = -1;
    Deadline deadline = Deadline.ofSeconds(30);
    while (allocated != 0) {
      assertFalse(deadline.isOver(), "the last round allocated " + allocated + " bytes");
      long sent = departed;
      long before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < ROUND; i++) {
        put(0x11, 0x52, 0x11);
        a.put(packet, LENGTH, HOST_A, B_IN_A);
        forwarder.forward(A, 0, RULES, RULES, PROXY_ADDRESSES);
        put(0x70, 0x61, 0x70);
        b.put(packet, LENGTH, HOST_B, A_IN_B);
        forwarder.forward(B, 0, RULES, RULES, PROXY_ADDRESSES);
        check(i);
      }
      allocated = threads.getThreadAllocatedBytes(self) - before;
      assertEquals(2 * ROUND, departed - sent);
    }
  }
}
