package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Puts the payloads of WRITE ONLY packets where their RETH says, once each. It knows of which
 * packets pieces have come, and which are there whose immediate is still to be delivered. Under the
 * progress lock.
 *
 * <p>What is there already, by an earlier sending of the same packet, isn't placed again: its
 * reader may have seen it, without waiting for the completion, and have written something else
 * there.
 */
final class WritePlacement {
  /** Memory that its tables take. */
  static final int BYTES = ArrivedPieces.BYTES;

  private final MemoryRights rights;
  private final ArrivedPieces pieces;
  /* What found no receive for its immediate when its turn came: its bytes are there, and may be in use. */
  private final PsnBits placed = new PsnBits();
  private boolean softPeer;
  private int mostBytes;

  /**
   * @param tables address of {@link #BYTES} of zeros, of which only what is used costs pages
   */
  WritePlacement(MemoryRights rights, long tables) {
    this.rights = rights;
    pieces = new ArrivedPieces(tables);
  }

  /**
   * @param mostPayloadBytes that a packet may have
   */
  void start(boolean peerIsSoft, int mostPayloadBytes) {
    softPeer = peerIsSoft;
    mostBytes = mostPayloadBytes;
    placed.clearAll();
    pieces.clear();
  }

  /** Whether packets with so much payload are taken. */
  boolean takes(int payloadBytes) {
    return payloadBytes <= mostBytes;
  }

  /** Whether there are packets of which pieces have come, but not all. */
  boolean isAnyPartial() {
    return pieces.isAnyPartial();
  }

  /**
   * Places a whole packet. Pieces of it may have come before it: it was late, and the peer took it
   * for lost.
   *
   * @return 0, or the syndrome of the answer that refuses it
   */
  int place(int opcode, long packet, long payload, int payloadBytes, long psn) {
    int arrived = placed.get(psn) ? ArrivedPieces.ALL : pieces.arrived(psn);
    int outcome = placeRest(opcode, packet, payload, payloadBytes, arrived);
    if (outcome == 0 && arrived != 0) {
      pieces.forget(psn);
    }
    return outcome;
  }

  /**
   * Places a piece; {@link #joins} then counts it.
   *
   * @return 0, or the syndrome of the answer that refuses it
   */
  int placePiece(int opcode, long packet, long payload, int payloadBytes, long psn) {
    boolean isThere =
        placed.get(psn) || (pieces.arrived(psn) & 1 << PacketFormat.piece(packet) - 1) != 0;
    return placeRest(opcode, packet, payload, payloadBytes, isThere ? ArrivedPieces.ALL : 0);
  }

  /** Counts a piece that was placed; returns whether its packet is whole now. */
  boolean joins(long psn, int piece, boolean withImmediate) {
    return pieces.add(psn, piece, withImmediate);
  }

  /** Forgets the pieces of a packet that is whole; returns whether it has an immediate. */
  boolean take(long psn) {
    return pieces.take(psn);
  }

  /** A packet that was placed counts as not received: it comes again, and isn't placed then. */
  void keep(long psn) {
    placed.set(psn);
  }

  /** A packet's immediate, where it has one, can be delivered: it doesn't come again. */
  void release(long psn) {
    placed.clear(psn);
  }

  private int placeRest(int opcode, long packet, long payload, int payloadBytes, int arrived) {
    long reth = packet + PacketFormat.BTH_BYTES;
    long address = PacketFormat.networkLong(reth);
    long keyAndLength = PacketFormat.networkLong(reth + 8);
    int key = (int) (keyAndLength >>> 32);
    int length = (int) keyAndLength;
    /* From a soft peer the RETH names the write from here to its end, and in the packet with the immediate, whose payload
    is the write's last bytes, all of it. */
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
