package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.StubFabric;
import io.heddle.bridge.infiniband.KnownPorts;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.limit.Limiter;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Packets between fabric a on the wire and fabric b, an InfiniBand subnet. Packets from the subnet
 * contain their sender's port, but none of the bridge's addresses. The bridge's queue pairs in the
 * subnet are 0x61 to 0x63.
 */
class InfinibandForwarderTest {
  private static final Gid W1 = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid W2 = new Gid(0, 0xffff_0a01_0002L);
  private static final Gid W1_IN_B = new Gid(0, 0xffff_0a02_00c9L);
  private static final Gid W2_IN_B = new Gid(0, 0xffff_0a02_00caL);
  private static final Gid S1 = new Gid(0, 0xffff_0a02_0001L);
  private static final Gid S2 = new Gid(0, 0xffff_0a02_0002L);
  private static final Gid S1_IN_A = new Gid(0, 0xffff_0a01_00c9L);
  private static final Gid S2_IN_A = new Gid(0, 0xffff_0a01_00caL);
  private static final Gid PORT1 = new Gid(0xfe80L << 48, 1);
  private static final Gid PORT2 = new Gid(0xfe80L << 48, 2);
  private static final Gid UNKNOWN = new Gid(0, 0);
  private static final int A = 0;
  private static final int B = 1;
  private static final int KEY = 0x0123_4567;
  private static final int SERVICE_PORT = 7174;
  private static final int IMMEDIATE = DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
  private static final int LENGTH = DatagramFormat.headerBytes(IMMEDIATE) + 8;
  private static final List<Byte> WORD = List.of((byte) 1, (byte) 2, (byte) 3);
  private static final LoopRules RULES = new LoopRules(List.of(), List.of(), List.of());
  private static final ProxyAddresses PROXY_ADDRESSES =
      new ProxyAddresses(
          List.of(
              new ProxyAddress(A, S1_IN_A, S1),
              new ProxyAddress(A, S2_IN_A, S2),
              new ProxyAddress(B, W1_IN_B, W1),
              new ProxyAddress(B, W2_IN_B, W2)));
  private static final QueuePairMapping MAPPING =
      new QueuePairMapping(3, true, List.of(SERVICE_PORT));

  private final Arena arena = Arena.ofConfined();
  private final SubnetHosts ports = KnownPorts.none(new Gid(0, 0xffff_0a02_00feL));
  private final StubFabric a = new StubFabric();
  private final StubFabric b = new StubFabric(ports, 0x61, 0x62, 0x63);
  private final RecordingSidrService manager = new RecordingSidrService();
  private final long packet = Memory.allocate(arena, 64, 8);
  private final long[] counters = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private LoopRules toB = RULES;
  private long departed;
  private final MappedForwarder forwarder =
      new MappedForwarder(
          arena,
          MappedEnd.ofSocket(a),
          MappedEnd.ofDevice(b, manager),
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
    for (Gid source : List.of(W1_IN_B, W2_IN_B)) {
      b.sendPathBetween(source, S1, 0);
      b.sendPathBetween(source, S2, 0);
    }
  }

  private String send(int side, Gid from, Gid to, int source, int destination) {
    DatagramFormat.write(packet, IMMEDIATE, 0, destination, 1, KEY, source);
    DatagramFormat.setImmediate(packet, source);
    (side == A ? a : b).put(packet, LENGTH, from, to);
    long before = departed;
    forwarder.forward(side, 0, RULES, side == A ? toB : RULES, PROXY_ADDRESSES);
    return departed == before
        ? "dropped"
        : String.format(
            Locale.ROOT,
            "0x%x to 0x%x, 0x%x",
            DatagramFormat.sourceQueuePair(packet),
            PacketFormat.queuePair(packet),
            DatagramFormat.immediate(packet));
  }

  private String fromWire(Gid from, Gid to, int source, int destination) {
    return send(A, from, to, source, destination);
  }

  private String fromPort(Gid port, int source, int destination) {
    return send(B, port, UNKNOWN, source, destination);
  }

  private long dropped(int side, DropReason reason) {
    return GroupCounters.drops(counters[side], reason);
  }

  private void check(long nowNs) {
    forwarder.expire(A, nowNs);
    forwarder.expire(B, nowNs);
  }

  /*
   * Resolves a service in fabric a for a client in fabric b, and returns the answer to the client.
   */
  private String resolveService(Gid client, Gid address, int number) {
    manager.heard.add(
        new SidrService.IncomingSidrRequest(number, address, SERVICE_PORT, client, 9, WORD));
    check(number);
    byte[] forwarded = a.sent.getLast();
    answer(
        forwarded,
        address.equals(W1_IN_B) ? W1 : W2,
        client.equals(S1) ? S1_IN_A : S2_IN_A,
        number);
    return manager.log.getLast();
  }

  /* Answers a request by SIDR, as a host on the wire does. */
  private void answer(byte[] forwarded, Gid from, Gid to, int number) {
    long reply = Memory.allocate(arena, 512, 8);
    long question = Memory.allocate(arena, 512, 8);
    for (int i = 0; i < forwarded.length; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, question + i, forwarded[i]);
    }
    long mad = reply + DatagramFormat.HEADER_BYTES;
    DatagramFormat.write(reply, 0, 1, 0, 0x8001_0000, 1);
    SidrReply.write(
        mad, 0, SidrRequest.requestId(question + DatagramFormat.HEADER_BYTES), 0, number, KEY, 0);
    a.put(reply, forwarded.length, from, to);
    forwarder.forward(A, 0, RULES, RULES, PROXY_ADDRESSES);
  }

  @Test
  void queuePairRepresentsServiceOfAnyHostPerPort() {
    KnownPorts.learn(ports, S1, PORT1, 5);
    KnownPorts.learn(ports, S2, PORT2, 6);
    makePaths();
    assertEquals("112 is 0x63", resolveService(S1, W1_IN_B, 0x70));
    assertEquals(
        "112 is 0x62", resolveService(S1, W2_IN_B, 0x70), "another host's, of the same number");
    assertEquals(
        "112 is 0x63",
        resolveService(S2, W2_IN_B, 0x70),
        "another port has assignments of its own");
    a.sendPaths.clear();
    assertEquals("0x11 to 0x70, 0x11", fromPort(PORT1, 0x11, 0x63));
    assertEquals("0x11 to 0x70, 0x11", fromPort(PORT1, 0x11, 0x62));
    assertEquals("0x11 to 0x70, 0x11", fromPort(PORT2, 0x11, 0x63));
    assertEquals(
        "[10.1.0.201 to 10.1.0.1, 10.1.0.201 to 10.1.0.2, 10.1.0.202 to 10.1.0.2]",
        a.sendPaths.toString());
    assertEquals("0x63 to 0x11, 0x63", fromWire(W1, S1_IN_A, 0x70, 0x11));
    assertEquals("0x62 to 0x11, 0x62", fromWire(W2, S1_IN_A, 0x70, 0x11));
    assertEquals("0x63 to 0x11, 0x63", fromWire(W2, S2_IN_A, 0x70, 0x11));
    assertEquals("dropped", fromPort(PORT2, 0x11, 0x62), "that one requested no second one");
    assertEquals(1, dropped(B, DropReason.NO_QUEUE_PAIR));
  }

  @Test
  void queuePairsDistinguishClientsAtPort() {
    KnownPorts.learn(ports, S1, PORT1, 5);
    makePaths();
    assertEquals("0x61 to 0x21, 0x61", fromWire(W1, S1_IN_A, 0x11, 0x21));
    assertEquals(
        "0x62 to 0x21, 0x62", fromWire(W2, S1_IN_A, 0x11, 0x21), "no address distinguishes them");
    assertEquals("0x61 to 0x22, 0x61", fromWire(W2, S1_IN_A, 0x11, 0x22));
    a.sendPaths.clear();
    assertEquals("0x21 to 0x11, 0x21", fromPort(PORT1, 0x21, 0x61));
    assertEquals("0x21 to 0x11, 0x21", fromPort(PORT1, 0x21, 0x62));
    assertEquals("0x22 to 0x11, 0x22", fromPort(PORT1, 0x22, 0x61));
    assertEquals("[10.1.0.201 to 10.1.0.1, 10.1.0.201 to 10.1.0.2]", a.sendPaths.toString());
    assertEquals("0x63 to 0x21, 0x63", fromWire(W1, S1_IN_A, 0x12, 0x21));
    assertEquals("dropped", fromWire(W1, S1_IN_A, 0x13, 0x21));
    assertEquals(1, dropped(A, DropReason.NO_QUEUE_PAIR));
  }

  @Test
  void dropsPacketsOfHostsWithUnknownPath() {
    assertEquals("dropped", fromWire(W1, S1_IN_A, 0x11, 0x21));
    assertEquals("a path from 10.2.0.201 to 10.2.0.1", manager.log.getLast());
    assertEquals(1, dropped(A, DropReason.NO_PATH));
    KnownPorts.learn(ports, S1, PORT1, 5);
    makePaths();
    assertEquals("0x61 to 0x21, 0x61", fromWire(W1, S1_IN_A, 0x11, 0x21));
    assertEquals("dropped", fromPort(UNKNOWN, 0x21, 0x61));
    assertEquals(1, dropped(B, DropReason.NO_PATH));
    assertEquals("0x21 to 0x11, 0x21", fromPort(PORT1, 0x21, 0x61));
  }

  @Test
  void hostMovedToOtherPortGetsOtherQueuePairs() {
    KnownPorts.learn(ports, S1, PORT1, 5);
    makePaths();
    assertEquals("0x61 to 0x21, 0x61", fromWire(W1, S1_IN_A, 0x11, 0x21));
    assertEquals("112 is 0x63", resolveService(S1, W1_IN_B, 0x70));
    KnownPorts.learn(ports, S1, PORT2, 6);
    check(1000);
    assertEquals(
        "dropped", fromPort(PORT1, 0x21, 0x61), "its old port isn't part of the conversation");
    assertEquals("dropped", fromPort(PORT1, 0x22, 0x63), "nor of its service");
    assertEquals("dropped", fromPort(PORT2, 0x22, 0x63), "it must send another request");
    assertEquals("0x61 to 0x21, 0x61", fromWire(W1, S1_IN_A, 0x11, 0x21));
    assertEquals("0x21 to 0x11, 0x21", fromPort(PORT2, 0x21, 0x61));
  }

  @Test
  void subnetRulesApplyToPorts() {
    KnownPorts.learn(ports, S1, PORT1, 5);
    makePaths();
    toB = new LoopRules(List.of(), List.of(), List.of(new LoopRules.Prefix(PORT1, 128)));
    assertEquals("0x61 to 0x21, 0x61", fromWire(W1, S1_IN_A, 0x11, 0x21));
    toB = new LoopRules(List.of(), List.of(), List.of(new LoopRules.Prefix(PORT2, 128)));
    assertEquals("dropped", fromWire(W1, S1_IN_A, 0x11, 0x21));
    assertEquals(1, dropped(A, DropReason.FOREIGN_DESTINATION));
  }
}
