package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Table of immediates that arrived after a gap, until they can be delivered in order. Used under
 * the progress lock.
 */
final class EarlyImmediates {
  private static final int MASK = PsnBits.SIZE - 1;

  /** Length of the table, in bytes. */
  static final int BYTES = PsnBits.SIZE * Long.BYTES;

  /* Rows by sequence number: immediate 4 | length 4. */
  private final long rows;
  private final PsnBits waiting = new PsnBits();

  /**
   * @param rows address of {@link #BYTES} bytes of memory
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

  /** Stores the immediate of a packet. Returns false if the packet has no immediate. */
  boolean store(int opcode, long packet, long psn) {
    if (opcode != PacketFormat.WRITE_ONLY_WITH_IMMEDIATE) {
      return false;
    }
    long reth = packet + PacketFormat.BTH_BYTES;
    Memory.setInt(row(psn), PacketFormat.networkInt(reth + PacketFormat.RETH_BYTES));
    Memory.setInt(row(psn) + Integer.BYTES, PacketFormat.networkInt(reth + 12));
    return true;
  }

  /**
   * Marks the packet of a stored immediate as complete, so that the immediate waits for delivery.
   */
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
