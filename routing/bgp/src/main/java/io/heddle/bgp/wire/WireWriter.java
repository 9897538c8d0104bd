package io.heddle.bgp.wire;

import java.util.Arrays;

/** Growing buffer for a message, in network order. */
final class WireWriter {
  private byte[] bytes = new byte[128];
  private int size;

  int size() {
    return size;
  }

  private int grow(int count) {
    if (size + count > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + count));
    }
    int at = size;
    size += count;
    return at;
  }

  WireWriter u8(int value) {
    int at = grow(1);
    bytes[at] = (byte) value;
    return this;
  }

  WireWriter u16(int value) {
    int at = grow(2);
    WireBytes.put16(bytes, at, value);
    return this;
  }

  WireWriter u32(long value) {
    int at = grow(4);
    WireBytes.put32(bytes, at, (int) value);
    return this;
  }

  WireWriter u64(long value) {
    int at = grow(8);
    WireBytes.put64(bytes, at, value);
    return this;
  }

  WireWriter bytes(byte[] more) {
    int at = grow(more.length);
    System.arraycopy(more, 0, bytes, at, more.length);
    return this;
  }

  WireWriter fill(int count, int value) {
    int at = grow(count);
    Arrays.fill(bytes, at, at + count, (byte) value);
    return this;
  }

  /**
   * Writes a prefix: one length octet, then as many bytes as the length needs.
   *
   * @param ipv4 whether the prefix is a mapped one, of which only the IPv4 part is written
   */
  WireWriter prefix(long high, long low, int length, boolean ipv4) {
    int bits = ipv4 ? length - Prefix.MAPPED_BITS : length;
    long first = ipv4 ? low << 32 : high;
    u8(bits);
    int count = bits + 7 >>> 3;
    for (int i = 0; i < count; i++) {
      u8((int) (i < 8 ? first >>> 56 - 8 * i : low >>> 120 - 8 * i));
    }
    return this;
  }

  void setU8(int at, int value) {
    bytes[at] = (byte) value;
  }

  void setU16(int at, int value) {
    WireBytes.put16(bytes, at, value);
  }

  byte[] toArray() {
    return Arrays.copyOf(bytes, size);
  }
}
