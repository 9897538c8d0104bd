package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Table of arrived {@linkplain PacketFormat#pieceBytes pieces} of split packets. Each row contains
 * the sequence number for which it is valid. Used under the progress lock.
 */
final class ArrivedPieces {
  private static final int MASK = PsnBits.SIZE - 1;

  /** Bit mask of all pieces of a packet. */
  static final int ALL = (1 << PacketFormat.PIECES) - 1;

  private static final int IMMEDIATE = 1 << PacketFormat.PIECES;
  private static final int BITS = PacketFormat.PIECES + 1;

  /** Length of the table, in bytes. */
  static final int BYTES = PsnBits.SIZE * Long.BYTES;

  /* Rows: sequence number << BITS | immediate flag | pieces. Most queue pairs never use a row. */
  private final long rows;
  private boolean used;
  private int partial;

  /**
   * @param rows address of {@link #BYTES} bytes of zeroed memory
   */
  ArrivedPieces(long rows) {
    this.rows = rows;
  }

  private long row(long psn) {
    return rows + (psn & MASK) * Long.BYTES;
  }

  void clear() {
    if (used) {
      Memory.clear(rows, BYTES);
      used = false;
      partial = 0;
    }
  }

  /** Returns whether there are incomplete packets. */
  boolean isAnyPartial() {
    return partial > 0;
  }

  /** Returns the arrived pieces of a packet; bit 0 is the first. */
  int arrived(long psn) {
    long known = Memory.getLong(row(psn));
    return known >>> BITS == psn ? (int) known & ALL : 0;
  }

  /**
   * Records a piece; the first piece has number 1.
   *
   * @return whether the packet is complete now
   */
  boolean add(long psn, int piece, boolean withImmediate) {
    used = true;
    long known = Memory.getLong(row(psn));
    long before = known;
    if (known >>> BITS != psn) {
      before = psn << BITS;
      partial++;
    }
    long now = before | 1L << piece - 1 | (withImmediate ? IMMEDIATE : 0);
    Memory.setLong(row(psn), now);
    return (now & ALL) == ALL;
  }

  /** Removes a complete packet; returns whether it has an immediate. */
  boolean take(long psn) {
    boolean immediate = (Memory.getLong(row(psn)) & IMMEDIATE) != 0;
    remove(psn);
    return immediate;
  }

  /** Removes the record of a packet's pieces, because the whole packet arrived later. */
  void remove(long psn) {
    if (Memory.getLong(row(psn)) >>> BITS == psn) {
      Memory.setLong(row(psn), 0);
      partial--;
    }
  }
}
