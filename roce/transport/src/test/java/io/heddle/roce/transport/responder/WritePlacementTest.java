package io.heddle.roce.transport.responder;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.RegionTable;
import io.heddle.roce.wire.PacketFormat;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the placement of payloads: address, repetition, and refusals. */
final class WritePlacementTest {
  private static final int MOST_BYTES = 1024;
  private static final int REGION_BYTES = 4096;
  private static final int DOMAIN = 1;
  private static final long PSN = 1L << 24;

  private final Arena arena = Arena.ofConfined();
  private final long region = Memory.allocate(arena, REGION_BYTES, 64);
  private final long packet = Memory.allocate(arena, 64, 64);
  private final long payload = Memory.allocate(arena, 2 * MOST_BYTES, 64);
  private final RegionTable regions = new RegionTable(1);
  private final int key = regions.add(region, REGION_BYTES, DOMAIN, RegionTable.REMOTE_WRITE);
  private final WritePlacement writes =
      new WritePlacement(
          new MemoryRights(regions, DOMAIN), Memory.allocate(arena, WritePlacement.BYTES, 64));

  @BeforeEach
  void startWithASoftPeer() {
    writes.start(true, MOST_BYTES);
  }

  @AfterEach
  void close() {
    arena.close();
  }

  private void reth(long address, int named) {
    long reth = packet + PacketFormat.BTH_BYTES;
    Memory.ALL.set(Memory.NETWORK_LONG, reth, address);
    Memory.ALL.set(Memory.NETWORK_LONG, reth + 8, (long) key << 32 | named);
  }

  private void fill(long at, int bytes, int value) {
    for (int i = 0; i < bytes; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, at + i, (byte) value);
    }
  }

  private void assertRegion(int offset, int bytes, int value) {
    byte[] expected = new byte[bytes];
    Arrays.fill(expected, (byte) value);
    assertArrayEquals(expected, Memory.toArray(region + offset, bytes), "from " + offset);
  }

  private int place(int payloadBytes, int value) {
    fill(payload, payloadBytes, value);
    return writes.place(PacketFormat.WRITE_ONLY, packet, payload, payloadBytes, PSN);
  }

  private int placePiece(int piece, int offset, int bytes, int value) {
    reth(region + offset, bytes);
    PacketFormat.setPiece(packet, piece);
    fill(payload, bytes, value);
    int outcome = writes.placePiece(PacketFormat.WRITE_ONLY, packet, payload, bytes, PSN);
    PacketFormat.setPiece(packet, 0);
    return outcome;
  }

  @Test
  void payloadIsPlacedAtRethAddressOnly() {
    reth(region + 256, 100);
    assertEquals(0, place(100, 7));
    assertRegion(0, 256, 0);
    assertRegion(256, 100, 7);
    assertRegion(356, 100, 0);
  }

  @Test
  void softPeersLastRethCoversWholeWrite() {
    reth(region, 300);
    fill(payload, 100, 7);
    int opcode = PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
    assertEquals(0, writes.place(opcode, packet, payload, 100, PSN));
    assertRegion(0, 200, 0);
    assertRegion(200, 100, 7);
  }

  @Test
  void standardPeersRethCoversOwnPayload() {
    writes.start(false, MOST_BYTES);
    reth(region, 300);
    assertEquals(PacketFormat.SYNDROME_INVALID_REQUEST, place(100, 7));
    reth(region, 100);
    assertEquals(0, place(100, 7));
    assertRegion(0, 100, 7);
  }

  @Test
  void payloadLongerThanRethOrLimitIsInvalid() {
    reth(region, 99);
    assertEquals(PacketFormat.SYNDROME_INVALID_REQUEST, place(100, 7));
    reth(region, MOST_BYTES + 1);
    assertEquals(PacketFormat.SYNDROME_INVALID_REQUEST, place(MOST_BYTES + 1, 7));
    assertFalse(writes.acceptsSize(MOST_BYTES + 1));
    reth(region, -1);
    assertEquals(PacketFormat.SYNDROME_INVALID_REQUEST, place(0, 7));
    assertRegion(0, MOST_BYTES, 0);
    reth(region, MOST_BYTES);
    assertTrue(writes.acceptsSize(MOST_BYTES));
    assertEquals(0, place(MOST_BYTES, 7));
  }

  @Test
  void wholeWriteMustBeAllowed() {
    reth(region + REGION_BYTES - 100, 101);
    assertEquals(PacketFormat.SYNDROME_REMOTE_ACCESS, place(10, 7), "its end lies outside");
    assertRegion(REGION_BYTES - 100, 100, 0);
    reth(0, 0);
    assertEquals(0, place(0, 7), "nothing is written, so nothing is asked");
  }

  @Test
  void keptPacketIsNotPlacedUntilReleased() {
    reth(region, 100);
    assertEquals(0, place(100, 7));
    writes.markPlaced(PSN);
    fill(region, 100, 9); // the application overwrites the data
    assertEquals(0, place(100, 7));
    assertRegion(0, 100, 9);
    assertEquals(0, placePiece(1, 0, 50, 7));
    assertRegion(0, 100, 9);
    writes.clearPlaced(PSN);
    reth(region, 100);
    assertEquals(0, place(100, 8));
    assertRegion(0, 100, 8);
  }

  @Test
  void piecesCompletePacketInAnyOrder() {
    assertEquals(0, placePiece(3, 256, 44, 3));
    assertFalse(writes.completesPacket(PSN, 3, true));
    assertTrue(writes.isAnyPartial());
    fill(region + 256, 44, 9); // the application overwrites the data
    assertEquals(0, placePiece(3, 256, 44, 3));
    assertRegion(256, 44, 9);
    assertEquals(0, placePiece(1, 0, 128, 1));
    assertFalse(writes.completesPacket(PSN, 1, false));
    assertEquals(0, placePiece(2, 128, 128, 2));
    assertTrue(writes.completesPacket(PSN, 2, false));
    assertTrue(writes.removeComplete(PSN), "the third has an immediate");
    assertFalse(writes.isAnyPartial());
    assertRegion(0, 128, 1);
    assertRegion(128, 128, 2);
  }

  @Test
  void wholePacketFillsMissingPieces() {
    int each = PacketFormat.pieceBytes(300);
    assertEquals(0, placePiece(2, each, each, 2));
    assertFalse(writes.completesPacket(PSN, 2, false));
    reth(region, 300);
    assertEquals(0, place(300, 7));
    assertRegion(0, each, 7);
    assertRegion(each, each, 2);
    assertRegion(2 * each, 300 - 2 * each, 7);
    assertFalse(writes.isAnyPartial(), "no piece is waited for any more");
  }

  @Test
  void piecesOfRefusedPacketAreKept() {
    assertEquals(0, placePiece(1, 0, 128, 1));
    assertFalse(writes.completesPacket(PSN, 1, false));
    reth(region + REGION_BYTES, 300);
    assertEquals(PacketFormat.SYNDROME_REMOTE_ACCESS, place(300, 7));
    assertTrue(writes.isAnyPartial());
  }

  @Test
  void newConnectionStartsEmpty() {
    reth(region, 100);
    writes.markPlaced(PSN);
    assertEquals(0, placePiece(1, 0, 50, 5));
    assertRegion(0, 50, 0);
    writes.completesPacket(PSN, 1, false);
    writes.start(true, MOST_BYTES);
    assertFalse(writes.isAnyPartial());
    reth(region, 100);
    assertEquals(0, place(100, 7));
    assertRegion(0, 100, 7);
  }
}
