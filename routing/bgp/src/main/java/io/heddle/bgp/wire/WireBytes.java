package io.heddle.bgp.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Accessors of numbers in network order in a byte array. The caller has checked the bounds. */
final class WireBytes {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private WireBytes() {}

  static int u8(byte[] bytes, int at) {
    return bytes[at] & 0xff;
  }

  static int u16(byte[] bytes, int at) {
    return (short) SHORT.get(bytes, at) & 0xffff;
  }

  static int i32(byte[] bytes, int at) {
    return (int) INT.get(bytes, at);
  }

  static long u32(byte[] bytes, int at) {
    return i32(bytes, at) & 0xffff_ffffL;
  }

  static long i64(byte[] bytes, int at) {
    return (long) LONG.get(bytes, at);
  }

  /** Returns {@code count} bytes, 0 to 8, as the upper bytes of a number; the rest is zero. */
  static long upperBytes(byte[] bytes, int at, int count) {
    if (count >= 8) {
      return i64(bytes, at);
    }
    long value = 0;
    for (int i = 0; i < count; i++) {
      value |= (bytes[at + i] & 0xffL) << 56 - 8 * i;
    }
    return value;
  }

  static void put16(byte[] bytes, int at, int value) {
    SHORT.set(bytes, at, (short) value);
  }

  static void put32(byte[] bytes, int at, int value) {
    INT.set(bytes, at, value);
  }

  static void put64(byte[] bytes, int at, long value) {
    LONG.set(bytes, at, value);
  }
}
