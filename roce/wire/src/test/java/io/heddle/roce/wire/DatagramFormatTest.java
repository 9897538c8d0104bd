package io.heddle.roce.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests datagrams and their CRC over IPv4 and IPv6 against packets from scapy 2.7.0, whose BTH
 * layer computes the invariant CRC.
 */
class DatagramFormatTest {
  private static final String WITH_IMMEDIATE =
      "6530ffff00ffffff001234560123456700000011cafef00d686564646c6520627269646765000000b70c394a";
  private static final String PLAIN =
      "6430ffff00ffffff001234560123456700000011686564646c6520627269646765000000";
  private static final int SENDER = 0x0a010007;
  private static final int GROUP = 0xef010101;
  private static final int SENDERS_PORT = 49153;

  private final Arena arena = Arena.ofConfined();
  private final HeaderChecksum headers = new HeaderChecksum();

  @AfterEach
  void close() {
    arena.close();
  }

  private long packet(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    MemorySegment copy = arena.allocate(bytes.length, 8);
    copy.copyFrom(MemorySegment.ofArray(bytes));
    return copy.address();
  }

  private static int crc(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  private static int stored(long at) {
    return Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, at);
  }

  @Test
  void readsFieldsOfScapyPacket() {
    long packet = packet(WITH_IMMEDIATE);
    int length = WITH_IMMEDIATE.length() / 2;
    assertTrue(DatagramFormat.isDatagram(packet, length));
    assertEquals(0xffffff, PacketFormat.queuePair(packet));
    assertEquals(0x11, DatagramFormat.sourceQueuePair(packet));
    assertEquals(0x01234567, DatagramFormat.queueKey(packet));
    assertEquals(0xcafef00d, DatagramFormat.immediate(packet));
    assertEquals(13, DatagramFormat.payloadBytes(packet, length));
    assertEquals(
        "UD SEND to queue pair 0xffffff from 0x000011, queue key 0x01234567, psn 0x123456"
            + " immediate 0xcafef00d, 13 bytes",
        DatagramFormat.describe(packet, length));
  }

  @Test
  void writtenPacketMatchesScapy() {
    long written = packet(PLAIN.replaceAll("^.{40}", "0".repeat(40)));
    DatagramFormat.write(written, 3, 0xffffff, 0x123456, 0x01234567, 0x11);
    assertEquals(PLAIN, HexFormat.of().formatHex(Memory.toArray(written, PLAIN.length() / 2)));
  }

  @Test
  void rejectsPacketsThatAreNoDatagrams() {
    long packet = packet(WITH_IMMEDIATE);
    assertFalse(DatagramFormat.isDatagram(packet, 20), "no CRC");
    assertFalse(DatagramFormat.isDatagram(packet, 43), "no whole words");
    assertFalse(DatagramFormat.isDatagram(packet, 28), "three bytes of pad and no payload");
    for (int opcode = 0; opcode < 256; opcode++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet, (byte) opcode);
      assertEquals(
          opcode == 0x64 || opcode == 0x65, DatagramFormat.isDatagram(packet, 44), "" + opcode);
    }
    Memory.ALL.set(ValueLayout.JAVA_BYTE, packet, (byte) 0x64);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 1, (byte) 0x31);
    assertFalse(DatagramFormat.isDatagram(packet, 44), "transport version 1");
  }

  @Test
  void ipv6ChecksumMatchesScapy() {
    long packet = packet(WITH_IMMEDIATE);
    int covered = WITH_IMMEDIATE.length() / 2 - 4;
    int front =
        headers.ofIpv6(0xfd00L << 48, 7, SENDERS_PORT, 0xff0eL << 48, 0x10002, 4791, covered);
    assertEquals(stored(packet + covered), crc(Memory.toArray(packet, covered)) ^ front);
  }

  @Test
  void ipv4ChecksumAndHiddenHeaderWordMatchScapy() {
    assertWord("bb4eb71d", 0, HeaderChecksum.DO_NOT_FRAGMENT);
    assertWord("3ba3433c", 0xabcd, HeaderChecksum.DO_NOT_FRAGMENT);
    assertWord("31f449a0", 3, 0);
  }

  private void assertWord(String icrc, int identification, int flags) {
    byte[] covered = HexFormat.of().parseHex(PLAIN);
    int has = stored(packet(icrc));
    int would = crc(covered) ^ headers.ofIpv4(SENDER, SENDERS_PORT, GROUP, 4791, covered.length);
    assertEquals(
        (long) identification << 16 | flags, headers.solve(has ^ would, covered.length), icrc);
  }

  @Test
  void segmentsOfOneSendDifferInIdentification() {
    Random random = seeded();
    for (int round = 0; round < 200; round++) {
      int length = 20 + 4 * random.nextInt(1030);
      int number = random.nextInt(HeaderChecksum.MOST_SEGMENTS);
      headers.ofIpv4(SENDER, 4791, GROUP, 4791, length);
      assertEquals(
          (long) number << 16 | HeaderChecksum.DO_NOT_FRAGMENT,
          headers.solve(headers.ofIdentification(number, length), length),
          number + " of " + length + " bytes");
    }
  }

  @Test
  void damagedPacketRarelyHasSolution() {
    Random random = seeded();
    int length = 320;
    headers.ofIpv4(SENDER, 4791, GROUP, 4791, length);
    int accepted = 0;
    int tries = 1 << 18;
    for (int i = 0; i < tries; i++) {
      if (headers.solve(random.nextInt(), length) != HeaderChecksum.NO_SOLUTION) {
        accepted++;
      }
    }
    /*
     * 17 of 32 bits may vary, so 1 in 32,768 damaged packets passes: 8 are expected, and 64 are
     * twenty standard deviations more.
     */
    assertTrue(accepted < 64, accepted + " of " + tries);
  }

  @Test
  void randomBytesNeverYieldInvalidDatagram() {
    Random random = seeded();
    long bytes = arena.allocate(64, 8).address();
    int datagrams = 0;
    for (int i = 0; i < 1_000_000; i++) {
      int length = random.nextInt(65);
      Memory.setLong(bytes, random.nextLong());
      if (random.nextInt(4) == 0) {
        Memory.ALL.set(ValueLayout.JAVA_BYTE, bytes, (byte) (0x64 + random.nextInt(2)));
      }
      if (DatagramFormat.isDatagram(bytes, length)) {
        datagrams++;
        int payload = DatagramFormat.payloadBytes(bytes, length);
        assertTrue(payload >= 0 && payload <= length - DatagramFormat.LEAST_BYTES, "" + payload);
        assertTrue(DatagramFormat.describe(bytes, length).endsWith(payload + " bytes"));
      }
    }
    assertTrue(datagrams > 0);
  }

  private static Random seeded() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("DatagramFormatTest -Dheddle.seed=" + seed);
    return new Random(seed);
  }
}
