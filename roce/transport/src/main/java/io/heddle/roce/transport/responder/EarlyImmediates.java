package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * What immediates tell that came ahead of a gap, until their turn comes. Under the progress lock.
 */
final class EarlyImmediates {
  private static final int MASK = PsnBits.SIZE - 1;

  /** Memory that it takes. */
  static final int BYTES = PsnBits.SIZE * Long.BYTES;

  /* Of rows by number: immediate 4 | length 4. */
  private final long rows;
  private final PsnBits waiting = new PsnBits();

  /**
   * @param rows address of {@link #BYTES}
   */
  EarlyImmediates(long rows) {
    this.rows = rows;
  }

  private long row(long psn) {
    return rows + (psn & MASK) * Long.BYTES;
  }

  void clear() {
    waiting.clearAll();
  }

  /** Keeps what a packet's immediate tells, where it has one, and says whether it has. */
  boolean keep(int opcode, long packet, long psn) {
    if (opcode != PacketFormat.WRITE_ONLY_WITH_IMMEDIATE) {
      return false;
    }
    long reth = packet + PacketFormat.BTH_BYTES;
    Memory.setInt(row(psn), PacketFormat.networkInt(reth + PacketFormat.RETH_BYTES));
    Memory.setInt(row(psn) + Integer.BYTES, PacketFormat.networkInt(reth + 12));
    return true;
  }

  /** What was kept is all there: it only waits for its turn. */
  void add(long psn) {
    waiting.set(psn);
  }

  void remove(long psn) {
    waiting.clear(psn);
  }

  boolean isWaiting(long psn) {
    return waiting.get(psn);
  }

  int immediate(long psn) {
    return Memory.getInt(row(psn));
  }

  int lengthBytes(long psn) {
    return Memory.getInt(row(psn) + Integer.BYTES);
  }
}
