package io.heddle.fabric.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * nftables' {@code jhash ip6 saddr . ip6 daddr . udp sport mod N seed S}, as a lab's switch without
 * BPF can use it: Bob Jenkins' lookup3 over the fields as nftables' registers hold them, each
 * filled up to four bytes. It isn't linear.
 *
 * @param seed the rule's
 */
public record JenkinsHash(int seed) implements SwitchHash {
  private static final int START = 0xdeadbeef;

  /** lookup3's {@code hashlittle} (2006, public domain), Linux' {@code jhash}. */
  public static int jhash(byte[] bytes, int initial) {
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

  /** Linux' {@code jhash_2words} of two words, initial value 0. */
  public static int jhash(int first, int second) {
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

  /** The kernel scales the hash to the group: {@code hash * members >> 32}. */
  @Override
  public int member(RoceFlow flow, EcmpGroup group) {
    ByteBuffer registers = ByteBuffer.allocate(36);
    registers.put(flow.source().getAddress()).put(flow.destination().getAddress());
    registers.putShort((short) flow.sourcePort()).putShort((short) 0);
    int hash = jhash(Arrays.copyOf(registers.array(), registers.position()), seed);
    return (int) (Integer.toUnsignedLong(hash) * group.members() >>> 32);
  }

  @Override
  public JenkinsHash withSeed(int other) {
    return new JenkinsHash(other);
  }

  @Override
  public String text() {
    return "jenkins, seed " + Integer.toUnsignedString(seed);
  }
}
