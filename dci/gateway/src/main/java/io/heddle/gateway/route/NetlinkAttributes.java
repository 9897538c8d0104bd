package io.heddle.gateway.route;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Codec of a netlink message's attributes (linux/rtnetlink.h): {@code length 2 | type 2 | value},
 * padded to four bytes, numbers in the machine's byte order.
 */
final class NetlinkAttributes {
  static final int NESTED = 0x8000;
  private static final int TYPE_MASK = 0x3fff;
  private static final int HEADER_BYTES = 4;

  private NetlinkAttributes() {}

  static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
  }

  static byte[] number(int number) {
    return buffer(Integer.BYTES).putInt(number).array();
  }

  static byte[] number(short number) {
    return buffer(Short.BYTES).putShort(number).array();
  }

  /** Appends an attribute. */
  static void put(ByteBuffer to, int type, byte[] value) {
    to.putShort((short) (HEADER_BYTES + value.length)).putShort((short) type).put(value);
    while (to.position() % 4 != 0) {
      to.put((byte) 0);
    }
  }

  /** Returns the bytes that have been put into the buffer. */
  static byte[] bytes(ByteBuffer of) {
    byte[] bytes = new byte[of.position()];
    of.get(0, bytes);
    return bytes;
  }

  /**
   * Returns the values of the attributes after the message's struct, by type. Stops at the first
   * malformed attribute.
   */
  static Map<Integer, ByteBuffer> read(ByteBuffer message, int structBytes) {
    Map<Integer, ByteBuffer> found = new TreeMap<>();
    int at = structBytes;
    while (at + HEADER_BYTES <= message.capacity()) {
      int length = message.getShort(at) & 0xffff;
      if (length < HEADER_BYTES || at + length > message.capacity()) {
        break;
      }
      found.put(
          message.getShort(at + 2) & TYPE_MASK,
          message.slice(at + HEADER_BYTES, length - HEADER_BYTES).order(ByteOrder.nativeOrder()));
      at += length + 3 & ~3;
    }
    return found;
  }

  /** Returns a four-byte number, or 0 if the value is absent or too short. */
  static int intOf(@Nullable ByteBuffer value) {
    return value == null || value.capacity() < Integer.BYTES ? 0 : value.getInt(0);
  }

  static byte[] bytesOf(@Nullable ByteBuffer value) {
    if (value == null) {
      return new byte[0];
    }
    byte[] bytes = new byte[value.capacity()];
    value.get(0, bytes);
    return bytes;
  }
}
