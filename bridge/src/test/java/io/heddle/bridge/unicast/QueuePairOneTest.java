package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrReply;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.cm.SidrRequests;
import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.StubFabric;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Queue pair 1 behind a bridge: packets that it receives, and packets that the bridge sends itself.
 */
class QueuePairOneTest {
  private static final Gid CLIENT = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid SERVER = new Gid(0, 0xffff_0a02_0001L);
  private static final HostPair FORTH = new HostPair(CLIENT, SERVER);
  private static final HostPair BACK = new HostPair(SERVER, CLIENT);
  private static final long SERVICE = CmaHeader.datagramService(7174);
  private static final int COVERED = DatagramFormat.HEADER_BYTES + ManagementDatagram.BYTES;
  private static final int PACKET = COVERED + PacketFormat.ICRC_BYTES;

  private final Arena arena = Arena.ofConfined();
  private final StubFabric a = new StubFabric();
  private final StubFabric b = new StubFabric();
  private final long packet = Memory.allocate(arena, PACKET, 8);
  private final long mad = packet + DatagramFormat.HEADER_BYTES;
  private final long[] counters = {
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8),
    Memory.allocate(arena, GroupCounters.BLOCK_BYTES, 8)
  };
  private final QueuePairOne queuePairOne =
      new QueuePairOne(
          arena,
          new FabricPort[] {a, b},
          new UnicastSettings(0, UnicastSettings.Addresses.TRANSPARENT, ProxyAddresses.NONE, null),
          counters,
          new SplittableRandom(1));

  @AfterEach
  void free() {
    arena.close();
  }

  private void putHeaders() {
    DatagramFormat.write(packet, 0, 1, 0, ManagementDatagram.QUEUE_KEY, 1);
  }

  private void putRequest(int id) {
    putHeaders();
    SidrRequest.write(mad, 0xabc, id, SERVICE);
    CmaHeader.write(SidrRequest.privateData(mad), 9, CLIENT, SERVER);
  }

  private void putReply(int id) {
    putHeaders();
    SidrReply.write(mad, 0xabc, id, SidrReply.STATUS_SUCCESS, 0x77, 5, SERVICE);
  }

  private DropReason fromClient(long nowNs) {
    return queuePairOne.take(0, packet, PACKET, FORTH, FORTH, nowNs);
  }

  private DropReason fromServer(long nowNs) {
    return queuePairOne.take(1, packet, PACKET, BACK, BACK, nowNs);
  }

  @Test
  void requestIsForwardedUnderOwnIdAndReplyReturnsUnderClients() {
    putRequest(7);
    assertNull(fromClient(0));
    int id = SidrRequest.requestId(mad);
    assertNotEquals(7, id);
    assertEquals(0xabc, ManagementDatagram.transaction(mad));
    putReply(id);
    assertNull(fromServer(1));
    assertEquals(7, SidrReply.requestId(mad));
    assertEquals(0x77, SidrReply.queuePair(mad));
    putReply(id);
    assertEquals(DropReason.UNKNOWN_REPLY, fromServer(2), "it doesn't wait any more");
  }

  @Test
  void proxyAddressesAreRewrittenPerSide() {
    Gid serverInA = new Gid(0, 0xffff_0a01_00c8L);
    Gid clientInB = new Gid(0xfd02L << 48, 0x200L);
    Gid server6 = new Gid(0xfd02L << 48, 0x100L);
    putRequest(7);
    HostPair near = new HostPair(CLIENT, serverInA);
    assertNull(queuePairOne.take(0, packet, PACKET, near, new HostPair(clientInB, server6), 0));
    int id = SidrRequest.requestId(mad);
    assertEquals(6, CmaHeader.ipVersion(SidrRequest.privateData(mad)));
    assertEquals(clientInB, CmaHeader.source(SidrRequest.privateData(mad)));
    assertEquals(server6, CmaHeader.destination(SidrRequest.privateData(mad)));
    putReply(id);
    HostPair answer = new HostPair(server6, clientInB);
    Gid other = new Gid(0, 0xffff_0a01_00c9L);
    assertEquals(
        DropReason.FOREIGN_REPLY,
        queuePairOne.take(1, packet, PACKET, answer, new HostPair(other, CLIENT), 1));
    assertNull(queuePairOne.take(1, packet, PACKET, answer, new HostPair(serverInA, CLIENT), 1));
    assertEquals(7, SidrReply.requestId(mad));
    putRequest(8);
    assertNull(queuePairOne.take(0, packet, PACKET, near, new HostPair(clientInB, server6), 2));
    queuePairOne.expire(0, 2 + SidrRequests.WAIT_NS);
    assertEquals(
        List.of(serverInA + " to " + CLIENT), a.sendPaths, "the failure is sent from there too");
  }

  @Test
  void privateDataGetsAddressesOfPacket() {
    putHeaders();
    SidrRequest.write(mad, 0xabc, 7, SERVICE);
    Gid elsewhere = new Gid(0, 0xffff_c0a8_0001L);
    CmaHeader.write(SidrRequest.privateData(mad), 9, elsewhere, elsewhere);
    assertNull(fromClient(0));
    assertEquals(CLIENT, CmaHeader.source(SidrRequest.privateData(mad)));
    assertEquals(SERVER, CmaHeader.destination(SidrRequest.privateData(mad)));
  }

  @Test
  void foreignServiceKeepsPrivateData() {
    putHeaders();
    SidrRequest.write(mad, 0xabc, 7, 0x1000_0000_0000_0001L);
    Memory.setLong(SidrRequest.privateData(mad), 0x1122_3344_5566_7788L);
    assertNull(fromClient(0));
    assertEquals(0x1122_3344_5566_7788L, Memory.getLong(SidrRequest.privateData(mad)));
  }

  @Test
  void unansweredRequestFailsInServersNameAfterTenSeconds() {
    putRequest(7);
    assertNull(fromClient(0));
    int id = SidrRequest.requestId(mad);
    queuePairOne.expire(0, SidrRequests.WAIT_NS - 1);
    queuePairOne.expire(1, SidrRequests.WAIT_NS);
    assertEquals(List.of(), a.sent);
    queuePairOne.expire(0, SidrRequests.WAIT_NS);
    assertEquals(List.of(), b.sent);
    assertEquals(List.of(SERVER + " to " + CLIENT), a.sendPaths);
    assertEquals(1, a.sent.size());
    byte[] sent = a.sent.getFirst();
    assertEquals(PACKET, sent.length);
    for (int i = 0; i < PACKET; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + i, sent[i]);
    }
    assertTrue(DatagramFormat.isDatagram(packet, PACKET));
    assertEquals(1, PacketFormat.queuePair(packet));
    assertEquals(CmMessage.SIDR_REPLY, ManagementDatagram.messageOf(mad, 256));
    assertEquals(SidrReply.STATUS_NO_QUEUE_PAIR, SidrReply.status(mad));
    assertEquals(7, SidrReply.requestId(mad));
    assertEquals(0xabc, ManagementDatagram.transaction(mad));
    assertEquals(SERVICE, SidrReply.serviceId(mad));
    CRC32 crc = new CRC32();
    crc.update(sent, 0, COVERED);
    assertEquals((int) crc.getValue(), a.crcs.getFirst());
    putReply(id);
    assertEquals(DropReason.UNKNOWN_REPLY, fromServer(SidrRequests.WAIT_NS), "too late");
  }

  /*
   * Every byte derives from the seed, so a failure is reproducible. Afterwards no state may be
   * left.
   */
  @Test
  void dropsCorruptReplayedAndForeignMessagesWithoutState() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    Set<DropReason> seen = EnumSet.noneOf(DropReason.class);
    long now = 0;
    for (int i = 0; i < 8_000; i++) {
      now += 1_000_000;
      if (random.nextBoolean()) {
        putRequest(random.nextInt(8));
      } else {
        putReply(random.nextInt());
      }
      for (int spoilt = random.nextInt(3); spoilt > 0; spoilt--) {
        int at = random.nextInt(DatagramFormat.HEADER_BYTES + 60);
        Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + at, (byte) random.nextInt());
      }
      int length = random.nextInt(10) == 0 ? COVERED - 4 * random.nextInt(60) : PACKET;
      if (DatagramFormat.isDatagram(packet, length)) {
        int side = random.nextInt(2);
        HostPair ends = side == 0 ? FORTH : BACK;
        DropReason against = queuePairOne.take(side, packet, length, ends, ends, now);
        if (against != null) {
          seen.add(against);
        }
      }
      queuePairOne.expire(0, now);
      queuePairOne.expire(1, now);
    }
    assertTrue(
        seen.containsAll(
            List.of(
                DropReason.UNKNOWN_REPLY, DropReason.MALFORMED_MAD, DropReason.WRONG_QUEUE_KEY)),
        seen + ", seed " + seed);
    assertTrue(seen.contains(DropReason.OTHER_MAD), seen + ", seed " + seed);
    a.sent.clear();
    b.sent.clear();
    long later = now + SidrRequests.WAIT_NS;
    queuePairOne.expire(0, later);
    queuePairOne.expire(1, later);
    a.sent.clear();
    b.sent.clear();
    queuePairOne.expire(0, later + SidrRequests.WAIT_NS);
    queuePairOne.expire(1, later + SidrRequests.WAIT_NS);
    assertEquals(0, a.sent.size() + b.sent.size(), "no request waits any more, seed " + seed);
  }
}
