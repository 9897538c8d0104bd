package io.heddle.platform;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Bob Jenkins' hash lookup3 (2006, public domain), as in the kernel's include/linux/jhash.h.
 * nftables and the kernel's multipath routing use this hash.
 */
public final class Lookup3 {
  private static final int START = 0xdeadbeef;

  private Lookup3() {}

  /** Computes {@code hashlittle}, which Linux calls {@code jhash}. */
  public static int hash(byte[] bytes, int initial) {
    int a = START + bytes.length + initial;
    int b = a;
    int c = a;
    ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (words.remaining() > 12) {
      a += words.getInt();
      b += words.getInt();
      c += words.getInt();
      a = (a - c) ^ Integer.rotateLeft(c, 4);
      c += b;
      b = (b - a) ^ Integer.rotateLeft(a, 6);
      a += c;
      c = (c - b) ^ Integer.rotateLeft(b, 8);
      b += a;
      a = (a - c) ^ Integer.rotateLeft(c, 16);
      c += b;
      b = (b - a) ^ Integer.rotateLeft(a, 19);
      a += c;
      c = (c - b) ^ Integer.rotateLeft(b, 4);
      b += a;
    }
    if (!words.hasRemaining()) {
      return c;
    }
    ByteBuffer rest =
        ByteBuffer.wrap(
                Arrays.copyOf(Arrays.copyOfRange(bytes, words.position(), bytes.length), 12))
            .order(ByteOrder.LITTLE_ENDIAN);
    return last(a + rest.getInt(), b + rest.getInt(), c + rest.getInt());
  }

  /** Computes Linux' {@code jhash_2words} with initial value 0. */
  public static int hash(int first, int second) {
    int start = START + 8;
    return last(first + start, second + start, start);
  }

  private static int last(int first, int second, int third) {
    int a = first;
    int b = second;
    int c = third;
    c = (c ^ b) - Integer.rotateLeft(b, 14);
    a = (a ^ c) - Integer.rotateLeft(c, 11);
    b = (b ^ a) - Integer.rotateLeft(a, 25);
    c = (c ^ b) - Integer.rotateLeft(b, 16);
    a = (a ^ c) - Integer.rotateLeft(c, 4);
    b = (b ^ a) - Integer.rotateLeft(a, 14);
    return (c ^ b) - Integer.rotateLeft(b, 24);
  }
}
