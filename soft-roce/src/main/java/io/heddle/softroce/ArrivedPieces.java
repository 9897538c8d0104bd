package io.heddle.softroce;

/**
 * Which {@linkplain PacketPieces pieces} have come of the packets that come in pieces. A row
 * belongs to the number that it names, so what is left of one that came whole after all means
 * nothing to a later one. Under the progress lock.
 */
final class ArrivedPieces {
  private static final int MASK = PsnBits.SIZE - 1;
  private static final int ALL = (1 << PacketPieces.COUNT) - 1;
  private static final int IMMEDIATE = 1 << PacketPieces.COUNT;
  private static final int BITS = PacketPieces.COUNT + 1;

  /* number << BITS | whether there is an immediate | pieces */
  private final long[] rows = new long[PsnBits.SIZE];

  void clear() {
    java.util.Arrays.fill(rows, 0);
  }

  /**
   * A piece has come, from 1.
   *
   * @return whether it is whole now
   */
  boolean add(long psn, int piece, boolean withImmediate) {
    int row = (int) psn & MASK;
    long before = rows[row] >>> BITS == psn ? rows[row] : psn << BITS;
    rows[row] = before | 1L << piece - 1 | (withImmediate ? IMMEDIATE : 0);
    return (rows[row] & ALL) == ALL;
  }

  /** Forgets a number that is whole; returns whether it has an immediate. */
  boolean take(long psn) {
    int row = (int) psn & MASK;
    boolean immediate = (rows[row] & IMMEDIATE) != 0;
    rows[row] = 0;
    return immediate;
  }
}
