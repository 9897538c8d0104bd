package io.heddle.softdevice;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Which {@linkplain PacketPieces pieces} have come of the packets that come in pieces. A row
 * belongs to the number that it names, so what is left of one that came whole after all means
 * nothing to a later one. Under the progress lock.
 */
final class ArrivedPieces {
  private static final int MASK = PsnBits.SIZE - 1;
  private static final int ALL = (1 << PacketFormat.PIECES) - 1;
  private static final int IMMEDIATE = 1 << PacketFormat.PIECES;
  private static final int BITS = PacketFormat.PIECES + 1;

  /** Memory that it takes. */
  static final int BYTES = PsnBits.SIZE * Long.BYTES;

  /* Of rows: number << BITS | whether there is an immediate | pieces. Most queue pairs never use any. */
  private final long rows;
  private boolean used;

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
    }
  }

  /** Whether a piece has come already, from 1. */
  boolean has(long psn, int piece) {
    long known = Memory.getLong(row(psn));
    return known >>> BITS == psn && (known & 1L << piece - 1) != 0;
  }

  /**
   * A piece has come, from 1.
   *
   * @return whether it is whole now
   */
  boolean add(long psn, int piece, boolean withImmediate) {
    used = true;
    long known = Memory.getLong(row(psn));
    long before = known >>> BITS == psn ? known : psn << BITS;
    long now = before | 1L << piece - 1 | (withImmediate ? IMMEDIATE : 0);
    Memory.setLong(row(psn), now);
    return (now & ALL) == ALL;
  }

  /** Forgets a number that is whole; returns whether it has an immediate. */
  boolean take(long psn) {
    boolean immediate = (Memory.getLong(row(psn)) & IMMEDIATE) != 0;
    Memory.setLong(row(psn), 0);
    return immediate;
  }
}
