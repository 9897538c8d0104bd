package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.PrivateBytes;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.cm.SidrService;
import io.heddle.bridge.fabric.StubFabric;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Requests for queue pair numbers between a fabric on the wire and a fabric with real queue pairs.
 * The test reads the packets sent on the wire, and acts as the communication manager of the other
 * fabric. Time is virtual.
 */
class MappedRequestsTest {
  private static final Gid WIRE_HOST = new Gid(0, 0xffff_0a02_0001L);
  private static final Gid ON_VERBS = new Gid(0, 0xffff_0a01_00c8L);
  private static final Gid VERBS_HOST = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid ON_WIRE = new Gid(0, 0xffff_0a02_00c8L);
  private static final int VERBS = 0;
  private static final int WIRE = 1;
  private static final int PORT = 7174;
  private static final int PACKET =
      DatagramFormat.HEADER_BYTES + ManagementDatagram.BYTES + PacketFormat.ICRC_BYTES;
  private static final List<Byte> WORD = List.of((byte) 1, (byte) 2, (byte) 3);

  private final Arena arena = Arena.ofConfined();
  private final StubFabric fabric = new StubFabric();
  private final long packet = Memory.allocate(arena, PACKET, 8);
  private final long mad = packet + DatagramFormat.HEADER_BYTES;
  private final long[] counters = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private final RecordingSidrService service = new RecordingSidrService();
  private final MappedEnd[] ends = {
    MappedEnd.ofDevice(new StubFabric(0x51, 0x52), service), MappedEnd.ofSocket(fabric)
  };
  private final MappedRequests requests =
      new MappedRequests(
          arena,
          ends,
          0,
          counters,
          new QueuePairMap(ends, new Conversations(16)),
          new SplittableRandom(1));

  MappedRequestsTest() {
    requests.use(
        new ProxyAddresses(
            List.of(
                new ProxyAddress(VERBS, ON_VERBS, WIRE_HOST),
                new ProxyAddress(WIRE, ON_WIRE, VERBS_HOST))));
  }

  @AfterEach
  void free() {
    arena.close();
  }

  private void putHeaders() {
    DatagramFormat.write(packet, 0, 1, 0, ManagementDatagram.QUEUE_KEY, 1);
  }

  private @Nullable DropReason request(int id, long nowNs) {
    putHeaders();
    SidrRequest.write(mad, 0xabc, id, CmaHeader.datagramService(PORT));
    long header = SidrRequest.privateData(mad);
    CmaHeader.write(header, 9, WIRE_HOST, ON_WIRE);
    PrivateBytes.write(header + CmaHeader.BYTES, WORD, PrivateBytes.IN_REQUEST);
    return take(WIRE_HOST, nowNs);
  }

  private @Nullable DropReason reply(int id, int status, int number, long nowNs) {
    putHeaders();
    SidrReply.write(mad, id, id, status, number, 5, CmaHeader.datagramService(PORT));
    return take(WIRE_HOST, nowNs);
  }

  private @Nullable DropReason take(Gid from, long nowNs) {
    HostPair far = new HostPair(ON_VERBS, VERBS_HOST);
    return requests.take(WIRE, packet, PACKET, new HostPair(from, ON_WIRE), far, nowNs);
  }

  /* Returns the management datagram of the last sent packet. */
  private long sent() {
    byte[] last = fabric.sent.getLast();
    MemorySegment.copy(MemorySegment.ofArray(last), 0, Memory.ALL, packet, last.length);
    return mad;
  }

  @Test
  void clientOnWireGetsAnswerOfOtherFabricsManager() {
    assertNull(request(7, 0));
    assertNull(request(7, 1), "a repeat, which isn't forwarded again");
    assertEquals(List.of("10.1.0.200 asks 10.1.0.1 for 7174 with [1, 2, 3]"), service.log);
    service.heard.add(new SidrService.Answer(service.token + 1, 0, 0x99, 5, List.of()));
    service.heard.add(new SidrService.Answer(service.token, 0, 0x77, 5, WORD));
    requests.receive(2);
    assertEquals(1, fabric.sent.size());
    assertEquals(List.of("10.2.0.200 to 10.2.0.1"), fabric.sendPaths);
    assertEquals(7, SidrReply.requestId(sent()));
    assertEquals(0xabc, ManagementDatagram.transaction(mad));
    assertEquals(SidrReply.STATUS_SUCCESS, SidrReply.status(mad));
    assertEquals(0x77, SidrReply.queuePair(mad));
    assertEquals(5, SidrReply.queueKey(mad));
    assertEquals(WORD, PrivateBytes.read(SidrReply.privateData(mad), 3));
    assertNull(request(7, 3), "the reply was lost");
    assertEquals(2, service.log.size());
  }

  @Test
  void failedAndUnansweredRequestsGetErrorReplies() {
    assertNull(request(7, 0));
    service.heard.add(new SidrService.Answer(service.token, 2, 0, 0, List.of()));
    requests.receive(1);
    assertEquals(2, SidrReply.status(sent()));
    assertNull(request(8, 2));
    requests.expire(SidrRequests.WAIT_NS + 2);
    assertEquals(2, fabric.sent.size());
    assertEquals(8, SidrReply.requestId(sent()));
    assertEquals(SidrReply.STATUS_NO_QUEUE_PAIR, SidrReply.status(mad));
  }

  private int forwarded(long request, long nowNs) {
    service.heard.add(
        new SidrService.IncomingSidrRequest(request, ON_VERBS, PORT, VERBS_HOST, 9, WORD));
    requests.receive(nowNs);
    requests.expire(nowNs);
    assertEquals("10.2.0.200 to 10.2.0.1", fabric.sendPaths.getLast());
    return SidrRequest.requestId(sent());
  }

  @Test
  void verbsClientGetsBridgesNumberForWireServer() {
    int id = forwarded(41, 0);
    long header = SidrRequest.privateData(mad);
    assertEquals(ON_WIRE, CmaHeader.source(header));
    assertEquals(WIRE_HOST, CmaHeader.destination(header));
    assertEquals(9, CmaHeader.port(header));
    assertEquals(CmaHeader.datagramService(PORT), SidrRequest.serviceId(mad));
    assertEquals(WORD, PrivateBytes.read(header + CmaHeader.BYTES, 3));
    requests.expire(1);
    assertEquals(1, fabric.sent.size(), "it isn't repeated at once");
    requests.expire(1_000_000_000);
    assertEquals(2, fabric.sent.size());
    assertEquals(DropReason.UNKNOWN_REPLY, reply(id + 1, 0, 0x70, 2));
    assertNull(reply(id, 0, 0x70, 2));
    assertNull(reply(forwarded(42, 3), 0, 0x71, 4));
    assertNull(reply(forwarded(43, 5), 0, 0x72, 6), "there are two queue pairs");
    assertNull(reply(forwarded(44, 7), 1, 0, 8), "no service listens there");
    assertEquals(
        List.of("41 is 0x52", "42 is 0x51", "43 is refused", "44 is refused"), service.log);
    assertEquals(DropReason.UNKNOWN_REPLY, reply(id, 0, 0x70, 9), "it doesn't wait any more");
  }

  @Test
  void rejectsForeignRepliesAndFailsUnansweredRequests() {
    int id = forwarded(41, 0);
    putHeaders();
    SidrReply.write(mad, id, id, 0, 0x70, 5, CmaHeader.datagramService(PORT));
    assertEquals(DropReason.FOREIGN_REPLY, take(ON_VERBS, 1));
    requests.expire(SidrRequests.WAIT_NS);
    assertEquals(List.of("41 is refused"), service.log);
    service.heard.add(new SidrService.IncomingSidrRequest(45, ON_VERBS, PORT, ON_WIRE, 9, WORD));
    requests.receive(1);
    assertEquals("45 is refused", service.log.getLast());
  }
}
