package io.heddle.bgp.wire;

import org.jspecify.annotations.Nullable;

/**
 * Reader of prefixes in wire form, each behind a length octet (RFC 4271 §4.3), into numbers without
 * an object per route.
 */
final class PrefixReader {
  private static final int IPV4_BITS = Prefix.MAX_LENGTH - Prefix.MAPPED_BITS;

  private PrefixReader() {}

  /** Reads one prefix behind its length octet; all its bytes must be present. */
  static Prefix prefix(byte[] bytes, int at, int length, boolean ipv4) {
    int size = length + 7 >>> 3;
    long high = WireBytes.upperBytes(bytes, at, Math.min(8, size));
    if (ipv4) {
      return Prefix.ipv4((int) (high >>> 32), length);
    }
    return new Prefix(high, size > 8 ? WireBytes.upperBytes(bytes, at + 8, size - 8) : 0, length);
  }

  /** Reads all prefixes between two offsets; null if they can't be separated. */
  static @Nullable Nlri read(byte[] bytes, int start, int end, boolean ipv4) {
    int count = count(bytes, start, end, ipv4 ? IPV4_BITS : Prefix.MAX_LENGTH);
    if (count <= 0) {
      return count == 0 ? Nlri.EMPTY : null;
    }
    long[] words = new long[2 * count];
    byte[] lengths = new byte[count];
    int at = start;
    for (int i = 0; i < count; i++) {
      int length = WireBytes.u8(bytes, at++);
      int size = length + 7 >>> 3;
      if (ipv4) {
        Prefix prefix = prefix(bytes, at, length, true);
        words[2 * i + 1] = prefix.low();
        lengths[i] = (byte) prefix.length();
      } else {
        ipv6(bytes, at, length, words, 2 * i);
        lengths[i] = (byte) length;
      }
      at += size;
    }
    return new Nlri(words, lengths, count);
  }

  private static void ipv6(byte[] bytes, int at, int length, long[] words, int to) {
    int size = length + 7 >>> 3;
    long high;
    long low;
    if (at + 16 <= bytes.length) {
      high = WireBytes.i64(bytes, at);
      low = WireBytes.i64(bytes, at + 8);
    } else {
      high = WireBytes.upperBytes(bytes, at, Math.min(8, size));
      low = size > 8 ? WireBytes.upperBytes(bytes, at + 8, size - 8) : 0;
    }
    words[to] = high & Prefix.highMask(length);
    words[to + 1] = low & Prefix.lowMask(length);
  }

  /*
   * Returns the number of prefixes; −1 if a prefix is longer than an address, or runs past the end.
   */
  private static int count(byte[] bytes, int start, int end, int longest) {
    int count = 0;
    for (int at = start; at < end; count++) {
      int length = WireBytes.u8(bytes, at);
      at += 1 + (length + 7 >>> 3);
      if (length > longest || at > end) {
        return -1;
      }
    }
    return count;
  }
}
