package io.heddle.dataplane.nft;

import io.heddle.dataplane.FlowHash;
import io.heddle.platform.Lookup3;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Hash that the nftables rules compute for a packet: {@code jhash} over the packet's fields as
 * nftables' registers hold them, each padded to four bytes. As with {@link FlowHash}, a queue
 * pair's number, addresses and port determine its path.
 *
 * <p>The methods return a number from which {@link FlowHash#bucket} and {@link FlowHash#label}
 * compute the packet's bucket and label. Only 16 bits of the label come from the hash, since a rule
 * writes whole bytes.
 */
public final class NftHash {
  private static final int REGISTERS_BYTES = 64;
  private static final int WORD_BYTES = 4;
  private static final int QUEUE_PAIR_SHIFT = 8;
  private static final int BUCKET_SHIFT = 16;

  private NftHash() {}

  /** Returns the hash of a queue pair's packets, over the 6-tuple. */
  public static int ofQueuePair(
      InetAddress source, InetAddress destination, int sourcePort, int queuePair, int seed) {
    ByteBuffer registers = addresses(source, destination);
    put(registers, (short) sourcePort);
    registers.putInt(queuePair << QUEUE_PAIR_SHIFT);
    return reportedHash(registers, seed);
  }

  /** Returns the hash of a packet other than RoCEv2 that has ports, over the 5-tuple. */
  public static int of(
      InetAddress source,
      InetAddress destination,
      int sourcePort,
      int destinationPort,
      int protocol,
      int seed) {
    ByteBuffer registers = addresses(source, destination);
    put(registers, (short) sourcePort);
    put(registers, (short) destinationPort);
    registers.putInt(protocol << 24);
    return reportedHash(registers, seed);
  }

  private static ByteBuffer addresses(InetAddress source, InetAddress destination) {
    ByteBuffer registers = ByteBuffer.allocate(REGISTERS_BYTES);
    return registers.put(source.getAddress()).put(destination.getAddress());
  }

  private static void put(ByteBuffer registers, short value) {
    registers.putShort(value).position(registers.position() + WORD_BYTES - Short.BYTES);
  }

  /** Returns the seed of the hash for labels, which must be independent of the hash for buckets. */
  static int labelSeed(int seed) {
    return seed + 1;
  }

  /*
   * Returns the bucket and the label as one number. The kernel scales a hash to a rule's modulus.
   * The buckets' modulus, 256, leaves the hash's first byte. The labels' modulus, 2^32 - 1, leaves
   * the hash less one, of which the upper half is used.
   */
  private static int reportedHash(ByteBuffer registers, int seed) {
    byte[] fields = Arrays.copyOf(registers.array(), registers.position());
    int bucket = Lookup3.hash(fields, seed) >>> 24;
    int hash = Lookup3.hash(fields, labelSeed(seed));
    short label = (short) ((hash == 0 ? 0 : hash - 1) >>> 16);
    return bucket << BUCKET_SHIFT | Short.reverseBytes(label) & 0xffff;
  }
}
