package io.heddle.transport.onesided;

import io.heddle.platform.Memory;

/**
 * Directory entry of a registration as peers read it: 64 bytes, at the index that is the
 * registration's number. A peer may read an entry while it is written. So an entry is valid only if
 * the numbers at both its ends and its check are right.
 *
 * <pre>
 * | 0 number + 1 8 | 8 address 8 | 16 length 8 | 24 key 8 | 32 check 8 | 40 zero 16 | 56 number + 1 8 |
 * </pre>
 */
final class DirectoryEntry {
  static final int BYTES = 64;

  private static final int ADDRESS = 8;
  private static final int LENGTH = 16;
  private static final int KEY = 24;
  private static final int CHECK = 32;
  private static final int END = 56;

  private DirectoryEntry() {}

  /** Writes the entry; concurrent readers see it whole or invalid. */
  static void write(long entry, int number, long address, long lengthBytes, int key) {
    Memory.setLong(entry + ADDRESS, address);
    Memory.setLong(entry + LENGTH, lengthBytes);
    Memory.setLong(entry + KEY, Integer.toUnsignedLong(key));
    Memory.setLong(entry + CHECK, check(address, lengthBytes, Integer.toUnsignedLong(key)));
    Memory.setLongRelease(entry + END, number + 1L);
    Memory.setLongRelease(entry, number + 1L);
  }

  /** Invalidates the entry. */
  static void clear(long entry) {
    Memory.setLongRelease(entry, 0);
    Memory.setLongRelease(entry + END, 0);
  }

  private static long check(long address, long lengthBytes, long key) {
    return Long.rotateLeft(address, 13) ^ Long.rotateLeft(lengthBytes, 31) ^ key;
  }

  static boolean isOf(long entry, int number) {
    return Memory.getLongAcquire(entry) == number + 1L
        && Memory.getLong(entry + END) == number + 1L
        && Memory.getLong(entry + CHECK)
            == check(address(entry), lengthBytes(entry), keyBits(entry));
  }

  static long address(long entry) {
    return Memory.getLong(entry + ADDRESS);
  }

  static long lengthBytes(long entry) {
    return Memory.getLong(entry + LENGTH);
  }

  private static long keyBits(long entry) {
    return Memory.getLong(entry + KEY);
  }

  static int key(long entry) {
    return (int) keyBits(entry);
  }
}
