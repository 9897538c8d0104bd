package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Which {@linkplain PacketFormat#pieceBytes pieces} have come of the packets that come in pieces. A
 * row belongs to the number that it names. Under the progress lock.
 */
final class ArrivedPieces {
  private static final int MASK = PsnBits.SIZE - 1;

  /** All pieces of a packet. */
  static final int ALL = (1 << PacketFormat.PIECES) - 1;

  private static final int IMMEDIATE = 1 << PacketFormat.PIECES;
  private static final int BITS = PacketFormat.PIECES + 1;

  /** Memory that it takes. */
  static final int BYTES = PsnBits.SIZE * Long.BYTES;

  /* Of rows: number << BITS | whether there is an immediate | pieces. Most queue pairs never use any. */
  private final long rows;
  private boolean used;
  private int partial;

  /**
   * @param rows address of {@link #BYTES} of zeros
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

  /** Whether there are packets of which pieces have come, but not all. */
  boolean isAnyPartial() {
    return partial > 0;
  }

  /** The pieces of a packet that have come already: bit 0 is the first. */
  int arrived(long psn) {
    long known = Memory.getLong(row(psn));
    return known >>> BITS == psn ? (int) known & ALL : 0;
  }

  /**
   * A piece has come, from 1.
   *
   * @return whether it is whole now
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

  /** Forgets a number that is whole; returns whether it has an immediate. */
  boolean take(long psn) {
    boolean immediate = (Memory.getLong(row(psn)) & IMMEDIATE) != 0;
    forget(psn);
    return immediate;
  }

  /** Forgets the pieces of a packet that came whole after all. */
  void forget(long psn) {
    if (Memory.getLong(row(psn)) >>> BITS == psn) {
      Memory.setLong(row(psn), 0);
      partial--;
    }
  }
}
