package io.heddle.dataplane;

import io.heddle.addr.RocePorts;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The hash that the data plane gives a packet, and what follows from it: the bucket of its policy
 * and the outer flow label. Whoever knows a queue pair's addresses and port knows its path.
 *
 * <p>MurmurHash3, 32 bits, over ten big-endian words: source and destination address (IPv4 as
 * {@code ::ffff:a.b.c.d}), both ports, and {@code protocol << 24 | queue pair}. The queue pair is 0
 * for what isn't RoCEv2.
 */
public final class FlowHash {
  /** Buckets of a policy. */
  public static final int BUCKETS = 256;

  /** UDP (IANA protocol numbers). */
  public static final int UDP = 17;

  /**
   * RoCEv2's UDP port (RoCEv2 annex A17). A packet to another one of {@link RocePorts#STANDARD} has
   * this one's hash: several ranks of a host share the range.
   */
  public static final int ROCE_PORT = RocePorts.ROCE_V2;

  private static final int LABEL_MASK = 0xfffff;
  private static final int BYTES = 40;

  private FlowHash() {}

  /** The hash of a queue pair's packets, the 6-tuple's. */
  public static int ofQueuePair(
      InetAddress source, InetAddress destination, int sourcePort, int queuePair, int seed) {
    return of(source, destination, sourcePort, ROCE_PORT, UDP, queuePair, seed);
  }

  /**
   * @param queuePair 0 where the packet isn't RoCEv2
   */
  public static int of(
      InetAddress source,
      InetAddress destination,
      int sourcePort,
      int destinationPort,
      int protocol,
      int queuePair,
      int seed) {
    ByteBuffer words = ByteBuffer.allocate(BYTES);
    words.put(AddressBytes.of(source)).put(AddressBytes.of(destination));
    words.putShort((short) sourcePort).putShort((short) destinationPort);
    words.putInt(protocol << 24 | queuePair).flip();
    int hash = seed;
    while (words.hasRemaining()) {
      int word = Integer.rotateLeft(words.getInt() * 0xcc9e2d51, 15) * 0x1b873593;
      hash = Integer.rotateLeft(hash ^ word, 13) * 5 + 0xe6546b64;
    }
    hash ^= BYTES;
    hash = (hash ^ hash >>> 16) * 0x85ebca6b;
    hash = (hash ^ hash >>> 13) * 0xc2b2ae35;
    return hash ^ hash >>> 16;
  }

  /** The bucket, from eight bits that the flow label doesn't have. */
  public static int bucket(int hash) {
    return hash >>> 16 & BUCKETS - 1;
  }

  /**
   * The outer flow label that the kernel makes of the hash where {@code net.ipv6.seg6_flowlabel} is
   * 1 ({@code seg6_make_flowlabel} in net/ipv6/seg6_iptunnel.c): rotated by half, and its bytes
   * taken as they lie in memory.
   */
  public static int label(int hash) {
    int rotated = Integer.rotateLeft(hash, 16);
    int onTheWire =
        ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN
            ? Integer.reverseBytes(rotated)
            : rotated;
    return onTheWire & LABEL_MASK;
  }
}
