package io.heddle.fabric.model;

import io.heddle.platform.Lookup3;
import java.net.Inet4Address;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Hash by which Linux selects among a route's next hops, since version 6.11, with three settings:
 * {@code fib_multipath_hash_policy=3}, {@code fib_multipath_hash_fields=0x37} (addresses, protocol,
 * ports) and a {@code fib_multipath_hash_seed}. The kernel hashes its {@code flow_keys}, from
 * {@code basic} on, with SipHash-2-4. The lower address and the lower port come first. Of the
 * hash's lower 32 bits the lowest one is dropped, and the other 31 are compared with each hop's
 * upper bound ({@code net/core/flow_dissector.c}, {@code net/ipv6/route.c}, {@code
 * include/net/ip_fib.h}). The hash isn't linear.
 *
 * <p>Policy 1 isn't modelled: it uses the random hash of a packet's socket.
 *
 * @param seed value of {@code fib_multipath_hash_seed}; not 0, for which the kernel uses a random
 *     seed
 */
public record LinuxHash(int seed) implements SwitchHash {
  private static final int HASH_BITS = 31;

  public LinuxHash {
    if (seed == 0) {
      throw new IllegalArgumentException(
          "seed 0 makes the kernel choose a random seed, so no path can be predicted");
    }
  }

  /**
   * Returns SipHash-2-4 (Aumasson and Bernstein, 2012).
   *
   * @param low first eight bytes of the key, little-endian
   * @param high last eight bytes of the key, little-endian
   */
  static long sipHash(byte[] bytes, long low, long high) {
    long[] v = {
      low ^ 0x736f6d6570736575L,
      high ^ 0x646f72616e646f6dL,
      low ^ 0x6c7967656e657261L,
      high ^ 0x7465646279746573L
    };
    int whole = bytes.length & ~7;
    byte[] last = Arrays.copyOf(Arrays.copyOfRange(bytes, whole, bytes.length), 8);
    last[7] = (byte) bytes.length;
    ByteBuffer words = ByteBuffer.wrap(bytes, 0, whole).order(ByteOrder.LITTLE_ENDIAN);
    while (words.hasRemaining()) {
      take(v, words.getLong());
    }
    take(v, ByteBuffer.wrap(last).order(ByteOrder.LITTLE_ENDIAN).getLong());
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++) {
      round(v);
    }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
  }

  private static void take(long[] v, long word) {
    v[3] ^= word;
    round(v);
    round(v);
    v[0] ^= word;
  }

  private static void round(long[] v) {
    v[0] += v[1];
    v[1] = Long.rotateLeft(v[1], 13) ^ v[0];
    v[0] = Long.rotateLeft(v[0], 32);
    v[2] += v[3];
    v[3] = Long.rotateLeft(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = Long.rotateLeft(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = Long.rotateLeft(v[1], 17) ^ v[2];
    v[2] = Long.rotateLeft(v[2], 32);
  }

  @Override
  public int member(RoceFlow flow, EcmpGroup group) {
    long bits = hash(flow) >>> 1;
    int member = 0;
    while (bits >= bound(member + 1, group.members())) {
      member++;
    }
    return member;
  }

  /*
   * Returns the upper bound of the hash values of the first upTo members, rounded to the nearest
   * value.
   */
  private static long bound(long upTo, int members) {
    return ((upTo << HASH_BITS) + members / 2) / members;
  }

  private long hash(RoceFlow flow) {
    byte[] source = flow.source().getAddress();
    byte[] destination = flow.destination().getAddress();
    int sourcePort = flow.sourcePort();
    int destinationPort = RoceFlow.DESTINATION_PORT;
    if (isLower(destination, source)) {
      byte[] first = source;
      source = destination;
      destination = first;
    }
    /* The kernel compares ports and IPv4 addresses as integers of a little-endian host. */
    if (Integer.reverseBytes(destinationPort) >>> 16 < Integer.reverseBytes(sourcePort) >>> 16) {
      sourcePort = destinationPort;
      destinationPort = flow.sourcePort();
    }
    boolean ipv4 = flow.source() instanceof Inet4Address;
    ByteBuffer keys = ByteBuffer.allocate(ipv4 ? 48 : 72);
    /*
     * Layout of flow_keys from basic on: n_proto stays zero, ip_proto is byte 2, and ports begins
     * at byte 28. The fields between them (tags, two VLANs and keyid) are zero.
     */
    keys.put(2, (byte) RoceFlow.PROTOCOL).position(28);
    keys.putShort((short) sourcePort).putShort((short) destinationPort).putInt(0);
    keys.put(source).put(destination);
    long seed64 = Integer.toUnsignedLong(seed);
    long key = seed64 << 32 | seed64;
    int outer = (int) sipHash(keys.array(), key, key);
    /*
     * With policy 3 the kernel also mixes in the hash of an inner packet, which doesn't exist here.
     */
    return Integer.toUnsignedLong(Lookup3.hash(outer == 0 ? 1 : outer, 0));
  }

  private static boolean isLower(byte[] left, byte[] right) {
    if (left.length != 4) {
      return Arrays.compareUnsigned(left, right) < 0;
    }
    int first = ByteBuffer.wrap(left).order(ByteOrder.LITTLE_ENDIAN).getInt();
    int second = ByteBuffer.wrap(right).order(ByteOrder.LITTLE_ENDIAN).getInt();
    return Integer.compareUnsigned(first, second) < 0;
  }

  @Override
  public LinuxHash withSeed(int other) {
    return new LinuxHash(other);
  }

  @Override
  public String text() {
    return "linux, seed " + Integer.toUnsignedString(seed);
  }

  /** Returns the sysctl settings with which a network namespace's kernel selects by this hash. */
  public List<String> settings() {
    return List.of(
        "net.ipv6.fib_multipath_hash_policy=3",
        "net.ipv6.fib_multipath_hash_fields=55",
        "net.ipv4.fib_multipath_hash_policy=3",
        "net.ipv4.fib_multipath_hash_fields=55",
        "net.ipv4.fib_multipath_hash_seed=" + Integer.toUnsignedString(seed));
  }
}
