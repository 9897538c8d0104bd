package io.heddle.transport.onesided;

import io.heddle.platform.Memory;
import io.heddle.reorder.ReorderWindow;

/**
 * Description of a put, which the initiator writes for the target: 64 bytes in the target's ring,
 * written with the operation's first chunk. Like clear-to-send entries it is in the processor's
 * byte order.
 *
 * <pre>
 * |  0 number 8 | 8 context 4 | 12 signal 4 | 16 number in its context 8 |
 * | 24 registration of the signal's word 8 | 32 the word's offset in it 8 | 40 addend 8 |
 * | 48 bytes of the first chunk 8 | 56 registration of the bytes 8 |
 * </pre>
 */
final class OperationRecord {
  static final int BYTES = 64;

  /** Value of {@link #dataRegistration} for a put without bytes. */
  static final long NONE = -1;

  /** Maximum number of a peer's operations in flight; the slots of the ring. */
  static final int SLOTS = 256;

  /* Offset of the records in the ring, after the PeerLine and the memory for directory reads. */
  private static final long AT = 1L << 16;

  private static final int CONTEXT = 8;
  private static final int SIGNAL = 12;
  private static final int IN_CONTEXT = 16;
  private static final int SIGNAL_REGISTRATION = 24;
  private static final int SIGNAL_OFFSET = 32;
  private static final int ADDEND = 40;
  private static final int FIRST_CHUNK = 48;
  private static final int DATA_REGISTRATION = 56;

  private OperationRecord() {}

  static int slot(long number) {
    return (int) number & SLOTS - 1;
  }

  /**
   * Returns the generation of the slot, in the target's window, for the operation of this number.
   */
  static int generation(long number) {
    return (int) (number / SLOTS) & ReorderWindow.GENERATIONS - 1;
  }

  /** Returns the offset of the slot's record in a ring. */
  static long offset(int slot) {
    return AT + (long) slot * BYTES;
  }

  /**
   * Writes a record.
   *
   * @param record the address of 64 bytes of zeros, or of another record
   * @param number number of the operation
   * @param inContext number of the operation within its context
   * @param firstChunkBytes length of the first chunk, which is written without an immediate before
   *     the record
   */
  static void write(
      long record, long number, long inContext, int firstChunkBytes, OneSidedOperation operation) {
    Memory.setLong(record, number);
    Memory.setInt(record + CONTEXT, operation.context);
    Memory.setInt(record + SIGNAL, operation.signal.code);
    Memory.setLong(record + IN_CONTEXT, inContext);
    Memory.setLong(record + SIGNAL_REGISTRATION, operation.signalRegistration);
    Memory.setLong(record + SIGNAL_OFFSET, operation.signalOffset);
    Memory.setLong(record + ADDEND, operation.addend);
    Memory.setLong(record + FIRST_CHUNK, firstChunkBytes);
    Memory.setLong(
        record + DATA_REGISTRATION, operation.lengthBytes == 0 ? NONE : operation.registration);
  }

  static long number(long record) {
    return Memory.getLong(record);
  }

  static int context(long record) {
    return Memory.getInt(record + CONTEXT);
  }

  /** Returns the signal's code as the peer wrote it, unvalidated. */
  static int signalCode(long record) {
    return Memory.getInt(record + SIGNAL);
  }

  static long numberInContext(long record) {
    return Memory.getLong(record + IN_CONTEXT);
  }

  static long signalRegistration(long record) {
    return Memory.getLong(record + SIGNAL_REGISTRATION);
  }

  static long signalOffset(long record) {
    return Memory.getLong(record + SIGNAL_OFFSET);
  }

  static long addend(long record) {
    return Memory.getLong(record + ADDEND);
  }

  /** Returns the length as the peer wrote it, unvalidated. */
  static long firstChunkBytes(long record) {
    return Memory.getLong(record + FIRST_CHUNK);
  }

  /** Returns the registration that the operation's bytes were written to, or {@link #NONE}. */
  static long dataRegistration(long record) {
    return Memory.getLong(record + DATA_REGISTRATION);
  }
}
