package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Placement of WRITE ONLY payloads at the address in their RETH, each payload once. It records
 * incomplete packets, and placed packets whose immediate isn't delivered yet. Used under the
 * progress lock.
 *
 * <p>A payload placed by an earlier transmission isn't placed again: the application may have seen
 * the data without waiting for the completion, and overwritten the memory.
 */
final class WritePlacement {
  /** Length of the tables, in bytes. */
  static final int BYTES = ArrivedPieces.BYTES;

  private final MemoryRights rights;
  private final ArrivedPieces pieces;
  /*
   * Packets whose payload is placed and may be in use, but whose immediate found no posted receive.
   */
  private final PsnBits placed = new PsnBits();
  private boolean softPeer;
  private int mostBytes;

  /**
   * @param tables address of {@link #BYTES} bytes of zeroed memory; only touched pages take memory
   */
  WritePlacement(MemoryRights rights, long tables) {
    this.rights = rights;
    pieces = new ArrivedPieces(tables);
  }

  /**
   * @param mostPayloadBytes largest payload of a packet, in bytes
   */
  void start(boolean peerIsSoft, int mostPayloadBytes) {
    softPeer = peerIsSoft;
    mostBytes = mostPayloadBytes;
    placed.clearAll();
    pieces.clear();
  }

  /** Returns whether this payload size is accepted. */
  boolean acceptsSize(int payloadBytes) {
    return payloadBytes <= mostBytes;
  }

  /** Returns whether there are incomplete packets. */
  boolean isAnyPartial() {
    return pieces.isAnyPartial();
  }

  /**
   * Places a whole packet. Pieces of the packet may have arrived before, if the peer thought the
   * packet lost.
   *
   * @return 0, or the syndrome of the NAK
   */
  int place(int opcode, long packet, long payload, int payloadBytes, long psn) {
    int arrived = placed.get(psn) ? ArrivedPieces.ALL : pieces.arrived(psn);
    int outcome = placeRest(opcode, packet, payload, payloadBytes, arrived);
    if (outcome == 0 && arrived != 0) {
      pieces.remove(psn);
    }
    return outcome;
  }

  /**
   * Places a piece, which the caller then records by {@link #completesPacket}.
   *
   * @return 0, or the syndrome of the NAK
   */
  int placePiece(int opcode, long packet, long payload, int payloadBytes, long psn) {
    boolean isThere =
        placed.get(psn) || (pieces.arrived(psn) & 1 << PacketFormat.piece(packet) - 1) != 0;
    return placeRest(opcode, packet, payload, payloadBytes, isThere ? ArrivedPieces.ALL : 0);
  }

  /** Records a placed piece; returns whether its packet is complete now. */
  boolean completesPacket(long psn, int piece, boolean withImmediate) {
    return pieces.add(psn, piece, withImmediate);
  }

  /** Removes the pieces of a complete packet; returns whether it has an immediate. */
  boolean removeComplete(long psn) {
    return pieces.take(psn);
  }

  /**
   * Marks a packet as placed, though it counts as not received. So its retransmission isn't placed
   * again.
   */
  void markPlaced(long psn) {
    placed.set(psn);
  }

  /**
   * Clears the mark of {@link #markPlaced}, since the packet is delivered and isn't retransmitted
   * any more.
   */
  void clearPlaced(long psn) {
    placed.clear(psn);
  }

  private int placeRest(int opcode, long packet, long payload, int payloadBytes, int arrived) {
    long reth = packet + PacketFormat.BTH_BYTES;
    long address = PacketFormat.networkLong(reth);
    long keyAndLength = PacketFormat.networkLong(reth + 8);
    int key = (int) (keyAndLength >>> 32);
    int length = (int) keyAndLength;
    /*
     * A soft peer's RETH covers the write from this packet to the write's end. In the packet with
     * the immediate, whose payload is the write's last bytes, the RETH covers the whole write.
     */
    boolean closing = softPeer && opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
    if (length < 0
        || payloadBytes > mostBytes
        || (softPeer ? payloadBytes > length : payloadBytes != length)) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (length > 0 && !rights.remoteWrite(key, address, length)) {
      return PacketFormat.SYNDROME_REMOTE_ACCESS;
    }
    if (arrived != ArrivedPieces.ALL && payloadBytes > 0) {
      long place = closing ? address + length - payloadBytes : address;
      if (arrived == 0) {
        Memory.copyForPolling(payload, place, payloadBytes);
      } else {
        copyMissing(payload, place, payloadBytes, arrived);
      }
    }
    return 0;
  }

  private static void copyMissing(long payload, long place, int payloadBytes, int arrived) {
    int each = PacketFormat.pieceBytes(payloadBytes);
    int left = arrived;
    for (int offset = 0; offset < payloadBytes; offset += each) {
      if ((left & 1) == 0) {
        Memory.copyForPolling(
            payload + offset, place + offset, Math.min(each, payloadBytes - offset));
      }
      left >>>= 1;
    }
  }
}
