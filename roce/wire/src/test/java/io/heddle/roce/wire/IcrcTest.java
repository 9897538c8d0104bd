package io.heddle.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the checksum from cached parts against the specification's form: the whole masked packet,
 * bit by bit.
 */
class IcrcTest {
  private static final int LONGEST = 4096 + 64;
  private static final int IPV6_AND_UDP = 48;

  private final Arena arena = Arena.ofConfined();
  private final long packet = Memory.allocate(arena, LONGEST, 8);
  private final ByteBuffer view = Memory.ALL.asSlice(packet, LONGEST).asByteBuffer();

  @AfterEach
  void close() {
    arena.close();
  }

  private record Flow(Gid source, int sourcePort, Gid destination, int destinationPort) {}

  /*
   * Returns the CRC of eight bytes of ones and the packet from the IPv6 header to the pad, with the
   * fields that routers change as ones.
   */
  private static int referenceCrc(Flow flow, byte[] transport) {
    int udpLength = 8 + transport.length + 4;
    ByteBuffer all = ByteBuffer.allocate(8 + IPV6_AND_UDP + transport.length);
    all.putLong(-1);
    all.putInt(0x6fffffff).putShort((short) udpLength).put((byte) 17).put((byte) 0xff);
    all.put(flow.source().toBytes()).put(flow.destination().toBytes());
    all.putShort((short) flow.sourcePort()).putShort((short) flow.destinationPort());
    all.putShort((short) udpLength).putShort((short) 0xffff);
    all.put(transport).put(8 + IPV6_AND_UDP + 4, (byte) 0xff);
    int register = 0xffffffff;
    for (byte each : all.array()) {
      for (int bit = 0; bit < 8; bit++) {
        boolean one = ((register ^ each >>> bit) & 1) != 0;
        register = one ? register >>> 1 ^ 0xedb88320 : register >>> 1;
      }
    }
    return ~register;
  }

  private static Random seeded() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("IcrcTest -Dheddle.seed=" + seed);
    return new Random(seed);
  }

  private static Flow flow(Random random) {
    return new Flow(
        new Gid(random.nextLong(), random.nextLong()),
        random.nextInt(1 << 16),
        new Gid(random.nextLong(), random.nextLong()),
        random.nextBoolean() ? 4791 : random.nextInt(1 << 16));
  }

  private byte[] fill(Random random, int bytes) {
    byte[] transport = new byte[bytes];
    random.nextBytes(transport);
    transport[4] = 0;
    for (int i = 0; i < bytes; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + i, transport[i]);
    }
    return transport;
  }

  @Test
  void referenceIsStandardCrc() {
    /* Check value of CRC-32 over "123456789": confirms register, bit order and complement. */
    java.util.zip.CRC32 crc = new java.util.zip.CRC32();
    Flow flow = new Flow(new Gid(1, 2), 3, new Gid(4, 5), 4791);
    byte[] transport = new byte[16];
    crc.update(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1, 0x6f, -1, -1, -1, 0, 28, 17, -1});
    crc.update(flow.source().toBytes());
    crc.update(flow.destination().toBytes());
    crc.update(new byte[] {0, 3, 0x12, (byte) 0xb7, 0, 28, -1, -1});
    crc.update(new byte[] {0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    assertEquals((int) crc.getValue(), referenceCrc(flow, transport));
  }

  @Test
  void sealMatchesReferenceForAnyFlow() {
    Random random = seeded();
    for (int round = 0; round < 60; round++) {
      Flow flow = flow(random);
      FlowChecksum checksum = new FlowChecksum();
      checksum.reset(flow.source(), flow.sourcePort(), flow.destination(), flow.destinationPort());
      IcrcWriter icrc = new IcrcWriter(packet, LONGEST, checksum);
      for (int i = 0; i < 12; i++) {
        int bytes = 12 + 4 * random.nextInt(i < 6 ? 30 : 1020);
        byte[] transport = fill(random, bytes);
        transport[4] = (byte) (random.nextBoolean() ? PacketFormat.DATA_MARK : 0);
        view.put(4, transport[4]);
        icrc.write(packet, bytes);
        int stored = Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, packet + bytes);
        assertEquals(referenceCrc(flow, transport), stored, bytes + " bytes of " + flow);
        assertTrue(
            Arrays.equals(transport, Memory.toArray(packet, bytes)), "nothing else was written");
      }
    }
  }

  @Test
  void markedContributionMatchesReference() {
    Random random = seeded();
    Flow flow = flow(random);
    FlowChecksum checksum = new FlowChecksum();
    checksum.reset(flow.source(), flow.sourcePort(), flow.destination(), flow.destinationPort());
    for (int i = 0; i < 100; i++) {
      byte[] transport = fill(random, 12 + 4 * random.nextInt(1020));
      transport[4] = PacketFormat.DATA_MARK;
      java.util.zip.CRC32 own = new java.util.zip.CRC32();
      own.update(transport);
      int front = checksum.markedContribution(transport.length);
      assertEquals(referenceCrc(flow, transport), front ^ (int) own.getValue());
    }
  }

  @Test
  void repeatedLengthsAndChangedPortsMatchReference() {
    Random random = seeded();
    Flow flow = flow(random);
    FlowChecksum checksum = new FlowChecksum();
    checksum.reset(flow.source(), flow.sourcePort(), flow.destination(), flow.destinationPort());
    for (int i = 0; i < 400; i++) {
      if (random.nextInt(20) == 0) {
        flow =
            new Flow(
                flow.source(), random.nextInt(1 << 16), flow.destination(), flow.destinationPort());
        checksum.setSourcePort(flow.sourcePort());
      }
      int bytes = 12 + 4 * random.nextInt(40);
      byte[] transport = fill(random, bytes);
      view.put(4, (byte) 0);
      assertEquals(referenceCrc(flow, transport), checksum.of(view, 0, bytes), bytes + " bytes");
    }
  }

  @Test
  void detectsEveryFlippedBitExceptMaskedByte() {
    Random random = seeded();
    Flow flow = flow(random);
    FlowChecksum checksum = new FlowChecksum();
    checksum.reset(flow.source(), flow.sourcePort(), flow.destination(), flow.destinationPort());
    int bytes = 64;
    fill(random, bytes);
    new IcrcWriter(packet, LONGEST, checksum).write(packet, bytes);
    for (int bit = 0; bit < (bytes + 4) * 8; bit++) {
      int at = bit >> 3;
      byte was = view.get(at);
      view.put(at, (byte) (was ^ 1 << (bit & 7)));
      byte[] received = Memory.toArray(packet, bytes);
      int stored = Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, packet + bytes);
      view.put(4, (byte) 0);
      boolean right = checksum.of(view, 0, bytes) == stored;
      assertEquals(referenceCrc(flow, received) == stored, right, "bit " + bit);
      if (at == 4) {
        assertTrue(right, "congestion marks are not covered");
      } else {
        assertFalse(right, "bit " + bit);
      }
      view.clear().put(4, (byte) 0).put(at, was);
    }
  }
}
