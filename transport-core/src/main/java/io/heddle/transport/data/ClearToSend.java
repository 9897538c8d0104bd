package io.heddle.transport.data;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.Memory;

/**
 * Clear-to-send entry: announces a ready receive buffer, RDMA-written by the receiver into the
 * sender's ring.
 *
 * <pre>
 *  0 address of the buffer, u64       20 receives in the group, u8     24 check word, u32
 *  8 its length in bytes, u32         21 generation of the slot, u8    28 zero
 * 12 tag, u32                         22 zero                          56 group number + 1, u64
 * 16 remote key, u32
 * </pre>
 *
 * <p>Little-endian (the byte order of every supported machine), one aligned 64-byte line, so that
 * hardware writes it in one piece. Software may not: a device that copies with vector instructions
 * may store the last bytes first. The check word over all fields distinguishes a whole entry from a
 * torn one, regardless of the writer.
 */
public final class ClearToSend {
  public static final int BYTES = 64;

  /** Bytes of the entries of one group of receives, which are contiguous. */
  static final int GROUP_BYTES = 8 * BYTES;

  /**
   * Number of groups of receives in a ring; it is 256, since an immediate has eight bits for the
   * slot.
   */
  static final int GROUPS = 256;

  static final int RING_BYTES = GROUPS * GROUP_BYTES;

  private static final int ADDRESS = 0;
  private static final int LENGTH = 8;
  private static final int TAG = 12;
  private static final int KEY = 16;
  private static final int RECEIVES = 20;
  private static final int GENERATION = 21;
  private static final int CHECK = 24;
  private static final int SEQUENCE = 56;

  private ClearToSend() {}

  static long groupOffset(long group) {
    return (group & (GROUPS - 1)) * GROUP_BYTES;
  }

  static void write(
      long entry,
      long group,
      int receives,
      int generation,
      long address,
      int lengthBytes,
      int tag,
      int key) {
    Memory.ALL.set(Memory.NATIVE_LONG, entry + ADDRESS, address);
    Memory.ALL.set(Memory.NATIVE_INT, entry + LENGTH, lengthBytes);
    Memory.ALL.set(Memory.NATIVE_INT, entry + TAG, tag);
    Memory.ALL.set(Memory.NATIVE_INT, entry + KEY, key);
    Memory.ALL.set(JAVA_BYTE, entry + RECEIVES, (byte) receives);
    Memory.ALL.set(JAVA_BYTE, entry + GENERATION, (byte) generation);
    Memory.ALL.set(Memory.NATIVE_INT, entry + CHECK, check(entry, group + 1));
    Memory.ALL.set(Memory.NATIVE_LONG, entry + SEQUENCE, group + 1);
  }

  /** Returns whether the entry is present, whole, and of this group. */
  public static boolean isOf(long entry, long group) {
    return Memory.getLongAcquire(entry + SEQUENCE) == group + 1
        && Memory.ALL.get(Memory.NATIVE_INT, entry + CHECK) == check(entry, group + 1);
  }

  private static int check(long entry, long sequence) {
    long mixed = sequence * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ Memory.ALL.get(Memory.NATIVE_LONG, entry + ADDRESS)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ Memory.ALL.get(Memory.NATIVE_LONG, entry + LENGTH)) * 0x94d049bb133111ebL;
    mixed = (mixed ^ Memory.ALL.get(Memory.NATIVE_LONG, entry + KEY)) * 0x9e3779b97f4a7c15L;
    return (int) (mixed ^ mixed >>> 32);
  }

  static long address(long entry) {
    return Memory.ALL.get(Memory.NATIVE_LONG, entry + ADDRESS);
  }

  static long lengthBytes(long entry) {
    return Integer.toUnsignedLong(Memory.ALL.get(Memory.NATIVE_INT, entry + LENGTH));
  }

  static int tag(long entry) {
    return Memory.ALL.get(Memory.NATIVE_INT, entry + TAG);
  }

  static int key(long entry) {
    return Memory.ALL.get(Memory.NATIVE_INT, entry + KEY);
  }

  static int receives(long entry) {
    return Memory.ALL.get(JAVA_BYTE, entry + RECEIVES);
  }

  static int generation(long entry) {
    return Memory.ALL.get(JAVA_BYTE, entry + GENERATION);
  }
}
