package io.heddle.gateway.dataplane;

import io.heddle.addr.RocePorts;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Hash that the BPF data plane computes for a packet, and the bucket and the outer flow label that
 * follow from the hash. So a queue pair's number, addresses and port determine its path.
 *
 * <p>MurmurHash3, 32 bits, over ten big-endian words: source and destination address (IPv4 as
 * {@code ::ffff:a.b.c.d}), both ports, and {@code protocol << 24 | queue pair}. The queue pair is 0
 * for packets other than RoCEv2.
 */
public final class FlowHash {
  /** Number of buckets per policy. */
  public static final int BUCKETS = 256;

  /** UDP's IP protocol number (IANA). */
  public static final int UDP = 17;

  /**
   * RoCEv2's UDP port (RoCEv2 annex A17). Packets to other ports of {@link RocePorts#STANDARD} hash
   * as if sent to this port, since several ranks of a host share the range.
   */
  public static final int ROCE_PORT = RocePorts.ROCE_V2;

  private static final int LABEL_MASK = 0xfffff;
  private static final int BYTES = 40;

  private FlowHash() {}

  /** Returns the hash of a queue pair's packets, over the 6-tuple. */
  public static int ofQueuePair(
      InetAddress source, InetAddress destination, int sourcePort, int queuePair, int seed) {
    return of(source, destination, sourcePort, ROCE_PORT, UDP, queuePair, seed);
  }

  /**
   * Returns the hash of a packet.
   *
   * @param queuePair number of the queue pair; 0 if the packet isn't RoCEv2
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

  /** Returns the bucket of a hash, from eight bits that the flow label doesn't use. */
  public static int bucket(int hash) {
    return hash >>> 16 & BUCKETS - 1;
  }

  /**
   * Returns the outer flow label that the kernel derives from the hash if {@code
   * net.ipv6.seg6_flowlabel} is 1 ({@code seg6_make_flowlabel} in net/ipv6/seg6_iptunnel.c): the
   * hash, rotated by 16 bits, whose bytes in memory are the label in network byte order.
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
