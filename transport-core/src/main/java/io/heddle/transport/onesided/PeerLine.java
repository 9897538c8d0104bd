package io.heddle.transport.onesided;

import io.heddle.platform.Memory;

/**
 * Line in the initiator's ring that the target writes: the number of operations that the target has
 * finished, and the address of the target's directory.
 *
 * <pre>
 * | 0 credit 8 | 8 directory's address 8 | 16 its key 8 | 24 check 8 | 32 zero 32 |
 * </pre>
 */
final class PeerLine {
  static final int BYTES = 64;

  private static final int DIRECTORY = 8;
  private static final int KEY = 16;
  private static final int CHECK = 24;

  /* Constant that makes the check of a zeroed line fail. */
  private static final long SALT = 0x6865_6464_6c65_3031L;

  private PeerLine() {}

  static void write(long line, long credit, long directory, int key) {
    Memory.setLong(line, credit);
    Memory.setLong(line + DIRECTORY, directory);
    Memory.setLong(line + KEY, Integer.toUnsignedLong(key));
    Memory.setLong(line + CHECK, check(directory, Integer.toUnsignedLong(key)));
  }

  private static long check(long directory, long key) {
    return Long.rotateLeft(directory, 17) ^ key ^ SALT;
  }

  /** Returns whether the line has been written at least once. */
  static boolean isWritten(long line) {
    return Memory.getLongAcquire(line + CHECK)
        == check(Memory.getLong(line + DIRECTORY), Memory.getLong(line + KEY));
  }

  static long credit(long line) {
    return Memory.getLongAcquire(line);
  }

  static long directory(long line) {
    return Memory.getLong(line + DIRECTORY);
  }

  static int key(long line) {
    return (int) Memory.getLong(line + KEY);
  }
}
