package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.sun.management.ThreadMXBean;
import io.heddle.bridge.fabric.NumberService;
import io.heddle.bridge.group.LoopRules;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Patience;
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
 * Questions and packets between two fabrics of real queue pairs. The bridge's are 0x51 and 0x52 in
 * a, 0x61 and 0x62 in b.
 */
class TwoDevicesTest {
  private static final Gid HOST_A = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid HOST_B = new Gid(0, 0xffff_0a02_0001L);
  private static final Gid B_IN_A = new Gid(0, 0xffff_0a01_00c8L);
  private static final Gid A_IN_B = new Gid(0, 0xffff_0a02_00c8L);
  private static final Gid STRANGER = new Gid(0, 0xffff_0a01_0063L);
  private static final int A = 0;
  private static final int B = 1;
  private static final int KEY = 0x0123_4567;
  private static final int PORT = 7174;
  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int LENGTH = DatagramFormat.headerBytes(IMMEDIATE) + 8;
  private static final int ROUND = 1000;
  private static final List<Byte> WORD = List.of((byte) 1, (byte) 2, (byte) 3);
  private static final LoopRules RULES = new LoopRules(List.of(), List.of(), List.of());
  private static final StandIns STAND_INS =
      new StandIns(List.of(new StandIn(A, B_IN_A, HOST_B), new StandIn(B, A_IN_B, HOST_A)));
  private static final NumberMapping MAPPING = new NumberMapping(2, true, List.of(PORT));

  private final Arena arena = Arena.ofConfined();
  private final HeardFabric.Numbered a = new HeardFabric.Numbered(0x51, 0x52);
  private final HeardFabric.Numbered b = new HeardFabric.Numbered(0x61, 0x62);
  private final ToldNumbers managerA = new ToldNumbers();
  private final ToldNumbers managerB = new ToldNumbers();
  private final long packet = Memory.allocate(arena, 64, 8);
  private final long[] counters = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private long departed;
  private final MappedForwarder forwarder =
      new MappedForwarder(
          arena,
          MappedEnd.behind(a, managerA),
          MappedEnd.behind(b, managerB),
          new UnicastSettings(0, Addresses.PROXIED, STAND_INS, MAPPING),
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

  private void makeWays() {
    a.wayBetween(B_IN_A, HOST_A, 0);
    b.wayBetween(A_IN_B, HOST_B, 0);
  }

  /* One look of the data thread. */
  private void look(long nowNs) {
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
    forwarder.forward(side, 0, RULES, RULES, STAND_INS);
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

  /* A host of a asks for a service of b's, whose host answers with this number. */
  private void serve(long question, int number, int key) {
    managerA.heard.add(new NumberService.Question(question, B_IN_A, PORT, HOST_A, 9, WORD));
    look(0);
    assertEquals("10.2.0.200 asks 10.2.0.1 for 7174 with [1, 2, 3]", managerB.told.getLast());
    managerB.heard.add(new NumberService.Answer(managerB.token, 0, number, key, WORD));
    look(1);
  }

  @Test
  void aClientGetsANumberOfTheBridgeAndTalksBothWays() {
    assertEquals("[serves [10.1.0.200] [7174]]", managerA.told.toString());
    assertEquals("[serves [10.2.0.200] [7174]]", managerB.told.toString());
    serve(41, 0x70, 5);
    assertEquals("41 is 0x52", managerA.told.getLast());
    assertEquals("dropped", fromA(0x11, 0x52, 0x11), "there is no way yet");
    assertEquals("a way from 10.2.0.200 to 10.2.0.1", managerB.told.getLast());
    makeWays();
    assertEquals("0x61 to 0x70, 0x61 by 0x5", fromA(0x11, 0x52, 0x11), "with the service's key");
    assertEquals("0x52 to 0x11, 0x52 by 0x1234567", fromB(0x70, 0x61, 0x70));
    assertEquals("0x62 to 0x70, 0x99 by 0x5", fromA(0x12, 0x52, 0x99));
    assertEquals(
        "0x52 to 0x12, 0x0 by 0x1234567", fromB(0x70, 0x62, 0), "two clients, two numbers");
    assertEquals("dropped", fromA(0x13, 0x52, 0), "and none for a third");
    assertEquals("dropped", fromB(0x71, 0x61, 0), "that one asked for nothing");
    assertEquals("dropped", fromA(0x11, 0x51, 0), "that number stands for nobody");
    assertEquals("dropped", fromA(0x11, 1, 0), "queue pair 1 is the kernel's");
  }

  @Test
  void bothFabricsHostsAskAndAnEarlierTalkIsFoundByTheServicesNumberToo() {
    makeWays();
    serve(41, 0x70, KEY);
    assertEquals("0x61 to 0x70, 0x0 by 0x1234567", fromA(0x11, 0x52, 0));
    /* The client's queue pair is a service as well, which the other host asks for now. */
    managerB.heard.add(new NumberService.Question(42, A_IN_B, PORT, HOST_A, 9, WORD));
    look(2);
    assertEquals("42 is refused", managerB.told.getLast(), "that's no host of b");
    managerB.heard.add(new NumberService.Question(43, A_IN_B, PORT, HOST_B, 9, WORD));
    look(3);
    assertEquals("10.1.0.200 asks 10.1.0.1 for 7174 with [1, 2, 3]", managerA.told.getLast());
    managerA.heard.add(new NumberService.Answer(managerA.token, 0, 0x11, 7, WORD));
    look(4);
    assertEquals("43 is 0x62", managerB.told.getLast());
    assertEquals("0x51 to 0x11, 0x0 by 0x7", fromB(0x71, 0x62, 0));
    assertEquals("0x52 to 0x11, 0x0 by 0x1234567", fromB(0x70, 0x62, 0), "they talk already");
    assertEquals("0x52 to 0x11, 0x0 by 0x1234567", fromB(0x70, 0x61, 0));
    assertEquals("0x61 to 0x70, 0x0 by 0x1234567", fromA(0x11, 0x52, 0));
  }

  @Test
  void whoeverIsRefusedOrNeverAnsweredIsToldSo() {
    managerA.heard.add(new NumberService.Question(41, B_IN_A, PORT, STRANGER, 9, WORD));
    look(0);
    assertEquals("41 is refused", managerA.told.getLast(), "nothing stands for it in b");
    managerA.heard.add(new NumberService.Question(42, B_IN_A, PORT, HOST_A, 9, WORD));
    look(1);
    managerB.heard.add(new NumberService.Answer(managerB.token, 1, 0, 0, WORD));
    look(2);
    assertEquals("42 is refused", managerA.told.getLast());
    managerA.heard.add(new NumberService.Question(43, B_IN_A, PORT, HOST_A, 9, WORD));
    look(3);
    int asked = managerB.told.size();
    look(9_000_000_000L);
    assertEquals(asked, managerB.told.size(), "the kernel's manager asks again by itself");
    look(10_000_000_003L);
    assertEquals("43 is refused", managerA.told.getLast());
    managerB.heard.add(new NumberService.Answer(managerB.token, 0, 0x70, 5, WORD));
    look(10_000_000_004L);
    assertEquals("43 is refused", managerA.told.getLast(), "it came too late");
  }

  @Test
  void bothManagersFaultsAreToldAndBothEnd() {
    assertEquals("", forwarder.look());
    managerB.fail("b has none");
    assertEquals("b has none", forwarder.look());
    managerA.fail("a has none");
    assertEquals("a has none; b has none", forwarder.look());
    forwarder.close();
    assertEquals("closed", managerA.told.getLast());
    assertEquals("closed", managerB.told.getLast());
  }

  @Test
  void nothingIsAllocatedForAPacketOfAConversation() {
    makeWays();
    serve(41, 0x70, KEY);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().threadId();
    long allocated = -1;
    Patience patience = Patience.ofSeconds(30);
    while (allocated != 0) {
      assertFalse(patience.isOver(), "the last round allocated " + allocated + " bytes");
      long sent = departed;
      long before = threads.getThreadAllocatedBytes(self);
      for (int i = 0; i < ROUND; i++) {
        put(0x11, 0x52, 0x11);
        a.put(packet, LENGTH, HOST_A, B_IN_A);
        forwarder.forward(A, 0, RULES, RULES, STAND_INS);
        put(0x70, 0x61, 0x70);
        b.put(packet, LENGTH, HOST_B, A_IN_B);
        forwarder.forward(B, 0, RULES, RULES, STAND_INS);
        look(i);
      }
      allocated = threads.getThreadAllocatedBytes(self) - before;
      assertEquals(2 * ROUND, departed - sent);
    }
  }
}
