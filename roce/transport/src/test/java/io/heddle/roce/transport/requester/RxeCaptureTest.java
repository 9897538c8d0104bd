package io.heddle.roce.transport.requester;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.RegionTable;
import io.heddle.roce.transport.RingShares;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.IcrcWriter;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.SendWorkRequest;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests checksum and headers bit by bit against captured packets: those sent by Linux's kernel RoCE
 * device (rxe, 6.1), and those of a plain-socket client that rxe executed.
 *
 * <p>The second capture is of 40 writes of 64 KiB on two queue pairs. It has all acknowledgements,
 * and some packets of each kind from the first and last write of each queue pair.
 */
class RxeCaptureTest {
  private static final int ETHERNET = 14;
  private static final int IPV6 = 40;
  private static final int UDP = 8;

  private record Packet(Gid source, Gid destination, int sourcePort, byte[] transport) {}

  private static final String RXE = "rxe-rc.pcap";
  private static final String CLIENT_AND_RXE = "soft-client-with-rxe-server.pcap";

  private static List<Packet> capture(String name) throws IOException {
    byte[] file;
    try (InputStream in = RxeCaptureTest.class.getResourceAsStream("golden/" + name)) {
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

  @ParameterizedTest
  @CsvSource({RXE + ", 16", CLIENT_AND_RXE + ", 4"})
  void everyChecksumMatchesKernel(String name, int kinds) throws IOException {
    Set<Integer> opcodes = new TreeSet<>();
    for (Packet packet : capture(name)) {
      byte[] bytes = packet.transport().clone();
      opcodes.add(bytes[0] & 0xff);
      bytes[4] = 0;
      FlowChecksum flow = new FlowChecksum();
      flow.reset(packet.source(), packet.sourcePort(), packet.destination(), 4791);
      int covered = bytes.length - 4;
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).put(bytes);
      int expected = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(covered);
      assertEquals(expected, flow.of(buffer, 0, covered), "first use");
      assertEquals(expected, flow.of(buffer, 0, covered), "second use, from the kept part");
    }
    assertTrue(opcodes.size() >= kinds, "the capture has opcodes " + opcodes);
  }

  @ParameterizedTest
  @CsvSource({RXE + ", 61", CLIENT_AND_RXE + ", 50"})
  void everyPacketSurvivesRoundTrip(String name, int least) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      int checked = 0;
      for (Packet each : capture(name)) {
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
      assertTrue(checked >= least, "packets of the reliable connection: " + checked);
    }
  }

  /* Heddle's requester builds the same packets as those that rxe executed. */
  @Test
  void requesterBuildsPacketsThatRxeExecuted() throws IOException {
    int mtu = 4096;
    int bytes = 16 * mtu;
    List<Packet> sent =
        capture(CLIENT_AND_RXE).stream()
            .filter(packet -> packet.transport()[0] != PacketFormat.ACKNOWLEDGE)
            .toList();
    try (Arena arena = Arena.ofConfined()) {
      Packet first = sent.getFirst();
      ByteBuffer headers = ByteBuffer.wrap(first.transport());
      int qpn = headers.getInt(4);
      int firstPsn = headers.getInt(8);
      long source = Memory.allocate(arena, bytes, 8);
      List<Packet> message =
          sent.stream()
              .filter(packet -> psnOf(packet) - firstPsn < 16 && qpnOf(packet) == qpn)
              .toList();
      assertEquals(4, message.size(), "FIRST, two MIDDLE, LAST");
      for (Packet packet : message) {
        byte[] transport = packet.transport();
        long at = source + (long) (psnOf(packet) - firstPsn) * mtu;
        int from = transport.length - PacketFormat.ICRC_BYTES - mtu;
        MemorySegment.copy(MemorySegment.ofArray(transport), from, Memory.ALL, at, mtu);
      }
      SendQueue queue = new SendQueue(4, Memory.allocate(arena, SendQueue.bytes(4), 64));
      RegionTable regions = new RegionTable(1);
      SendWorkRequest write = new SendWorkRequest();
      write.operation = SendWorkRequest.Operation.RDMA_WRITE;
      write.localAddress = source;
      write.lengthBytes = bytes;
      write.lkey = regions.add(source, bytes, 1, 0);
      write.remoteAddress = headers.getLong(PacketFormat.BTH_BYTES);
      write.rkey = headers.getInt(PacketFormat.BTH_BYTES + 8);
      assertEquals(bytes, headers.getInt(PacketFormat.BTH_BYTES + 12));
      assertEquals(1, queue.post(write));
      long memory = Memory.allocate(arena, (long) TransmitRing.SLOTS * TransmitRing.SLOT_BYTES, 8);
      FlowChecksum flow = new FlowChecksum();
      flow.reset(first.source(), first.sourcePort(), first.destination(), 4791);
      IcrcWriter icrc = new IcrcWriter(memory, TransmitRing.SLOTS * TransmitRing.SLOT_BYTES, flow);
      TransmitRing ring = new TransmitRing(memory, new LargeTrains(), new RingShares());
      TrainBuilder builder = new TrainBuilder(queue, new MemoryRights(regions, 1), icrc);
      builder.configure(PacketSizes.standard(PathMtu.MTU_4096), false, qpn, 16);
      long psn = firstPsn;
      while (builder.hasMore()) {
        psn = builder.build(ring, psn, 16, true, -1, PacketFormat.NO_TAG);
      }
      assertEquals(firstPsn + 16, psn);
      for (Packet packet : message) {
        long slot = ring.slotOf(psnOf(packet));
        int index = (int) (psnOf(packet) - ring.firstPsn(slot));
        long at = ring.address(slot) + (long) index * ring.segmentBytes(slot);
        takeMigrationState(packet, at);
        icrc.write(at, packet.transport().length - PacketFormat.ICRC_BYTES);
        assertArrayEquals(packet.transport(), Memory.toArray(at, packet.transport().length));
      }
    }
  }

  /*
   * Copies the migration bit from the captured packet: the plain-socket client sets it, but neither
   * rxe nor Heddle does.
   */
  private static void takeMigrationState(Packet from, long to) {
    byte ours = Memory.ALL.get(ValueLayout.JAVA_BYTE, to + 1);
    byte theirs = (byte) (from.transport()[1] & 0x40);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, to + 1, (byte) (ours | theirs));
  }

  private static int qpnOf(Packet packet) {
    return ByteBuffer.wrap(packet.transport()).getInt(4);
  }

  private static int psnOf(Packet packet) {
    return ByteBuffer.wrap(packet.transport()).getInt(8) & PacketFormat.PSN_MASK;
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
    if (PacketFormat.isAcknowledgeRequested(packet)) {
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
    takeMigrationState(each, copy);
    FlowChecksum flow = new FlowChecksum();
    flow.reset(each.source(), each.sourcePort(), each.destination(), 4791);
    new IcrcWriter(copy, bytes.length, flow).write(copy, bytes.length - PacketFormat.ICRC_BYTES);
    return Memory.toArray(copy, bytes.length);
  }
}
