package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * What Linux's kernel RoCE device (rxe, 6.1) sent, captured: our checksum and our headers must be
 * the same, bit by bit.
 */
class RxeCaptureTest {
  private static final int ETHERNET = 14;
  private static final int IPV6 = 40;
  private static final int UDP = 8;

  private record Packet(Gid source, Gid destination, int sourcePort, byte[] transport) {}

  private static List<Packet> capture() throws IOException {
    byte[] file;
    try (InputStream in = RxeCaptureTest.class.getResourceAsStream("golden/rxe-rc.pcap")) {
      file = in.readAllBytes();
    }
    ByteBuffer pcap = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    List<Packet> packets = new ArrayList<>();
    for (int at = 24; at < file.length; ) {
      int captured = pcap.getInt(at + 8);
      int ip = at + 16 + ETHERNET;
      ByteBuffer frame = ByteBuffer.wrap(file);
      int udpLength = frame.getShort(ip + IPV6 + 4) & 0xffff;
      packets.add(
          new Packet(
              Gid.of(Arrays.copyOfRange(file, ip + 8, ip + 24)),
              Gid.of(Arrays.copyOfRange(file, ip + 24, ip + 40)),
              frame.getShort(ip + IPV6) & 0xffff,
              Arrays.copyOfRange(file, ip + IPV6 + UDP, ip + IPV6 + udpLength)));
      at += 16 + captured;
    }
    return packets;
  }

  @Test
  void everyChecksumIsTheOneThatTheKernelComputed() throws IOException {
    Set<Integer> opcodes = new TreeSet<>();
    for (Packet packet : capture()) {
      byte[] bytes = packet.transport().clone();
      opcodes.add(bytes[0] & 0xff);
      bytes[4] = (byte) 0xff;
      FlowChecksum flow = new FlowChecksum();
      flow.reset(packet.source(), packet.sourcePort(), packet.destination(), 4791);
      int covered = bytes.length - 4;
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).put(bytes);
      int expected = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(covered);
      assertEquals(expected, flow.of(buffer, 0, covered), "first use");
      assertEquals(expected, flow.of(buffer, 0, covered), "second use, from the kept part");
    }
    assertTrue(opcodes.size() > 15, "the capture has opcodes " + opcodes);
  }

  @Test
  void everyReliablePacketReadsAndWritesTheSame() throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int checked = 0;
      for (Packet each : capture()) {
        byte[] bytes = each.transport();
        long packet = Memory.allocate(arena, bytes.length, 8);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Memory.ALL, packet, bytes.length);
        int opcode = PacketFormat.opcode(packet);
        int extended = PacketFormat.extendedHeaderBytes(opcode);
        if (extended < 0) {
          continue;
        }
        checked++;
        byte[] again = rewrite(arena, packet, bytes, opcode, extended, each);
        assertArrayEquals(bytes, again, "opcode 0x" + Integer.toHexString(opcode));
      }
      assertTrue(checked > 60, "packets of the reliable connection: " + checked);
    }
  }

  private static byte[] rewrite(
      Arena arena, long packet, byte[] bytes, int opcode, int extended, Packet each) {
    long copy = Memory.allocate(arena, bytes.length, 8);
    Memory.copy(packet, copy, bytes.length);
    PacketFormat.writeBase(
        copy,
        opcode,
        PacketFormat.pad(packet),
        PacketFormat.queuePair(packet),
        PacketFormat.psn(packet));
    if (PacketFormat.acknowledgeRequested(packet)) {
      PacketFormat.setAcknowledgeRequest(copy);
    }
    long header = packet + PacketFormat.BTH_BYTES;
    if (PacketFormat.hasReth(opcode)) {
      PacketFormat.writeReth(
          copy + PacketFormat.BTH_BYTES,
          PacketFormat.networkLong(header),
          PacketFormat.networkInt(header + 8),
          PacketFormat.networkInt(header + 12));
    }
    if (opcode == PacketFormat.ACKNOWLEDGE) {
      int aeth = PacketFormat.networkInt(header);
      PacketFormat.writeAeth(copy + PacketFormat.BTH_BYTES, aeth >>> 24, aeth);
    }
    FlowChecksum flow = new FlowChecksum();
    flow.reset(each.source(), each.sourcePort(), each.destination(), 4791);
    new PacketSeal(copy, bytes.length, flow).seal(copy, bytes.length - PacketFormat.ICRC_BYTES);
    return Memory.toArray(copy, bytes.length);
  }
}
