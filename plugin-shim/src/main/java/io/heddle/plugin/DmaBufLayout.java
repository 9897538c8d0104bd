package io.heddle.plugin;

import io.heddle.platform.Memory;

/**
 * Layout of {@code struct heddle_dma_buf} of native/src/java_calls.h: offsets of its fields, all of
 * which are 64-bit integers.
 */
final class DmaBufLayout {
  private static final int ADDRESS = 0;
  private static final int LENGTH = 8;
  private static final int TYPE = 16;
  private static final int OFFSET = 24;
  private static final int DESCRIPTOR = 32;

  private DmaBufLayout() {}

  static long address(long memory) {
    return Memory.getLong(memory + ADDRESS);
  }

  static long lengthBytes(long memory) {
    return Memory.getLong(memory + LENGTH);
  }

  static int type(long memory) {
    return (int) Memory.getLong(memory + TYPE);
  }

  static long offset(long memory) {
    return Memory.getLong(memory + OFFSET);
  }

  static int descriptor(long memory) {
    return (int) Memory.getLong(memory + DESCRIPTOR);
  }
}
