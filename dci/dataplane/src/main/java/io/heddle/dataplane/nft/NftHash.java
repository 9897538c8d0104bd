package io.heddle.dataplane.nft;

import io.heddle.dataplane.FlowHash;
import io.heddle.platform.Lookup3;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The hash that the rules give a packet: {@code jhash} over the fields as nftables' registers hold
 * them, each filled up to four bytes. Who knows a queue pair's addresses and port knows its path
 * here, too.
 *
 * <p>It is told as a number of which {@link FlowHash#bucket} and {@link FlowHash#label} make the
 * bucket and the label that the packet has. A label has 16 bits of the hash, since a rule writes
 * whole bytes.
 */
public final class NftHash {
  private static final int REGISTERS_BYTES = 64;
  private static final int WORD_BYTES = 4;
  private static final int QUEUE_PAIR_SHIFT = 8;
  private static final int BUCKET_SHIFT = 16;

  private NftHash() {}

  /** The hash of a queue pair's packets, the 6-tuple's. */
  public static int ofQueuePair(
      InetAddress source, InetAddress destination, int sourcePort, int queuePair, int seed) {
    ByteBuffer registers = addresses(source, destination);
    put(registers, (short) sourcePort);
    registers.putInt(queuePair << QUEUE_PAIR_SHIFT);
    return told(registers, seed);
  }

  /** The hash of what isn't RoCEv2 and has ports, the 5-tuple's. */
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
    return told(registers, seed);
  }

  private static ByteBuffer addresses(InetAddress source, InetAddress destination) {
    ByteBuffer registers = ByteBuffer.allocate(REGISTERS_BYTES);
    return registers.put(source.getAddress()).put(destination.getAddress());
  }

  private static void put(ByteBuffer registers, short value) {
    registers.putShort(value).position(registers.position() + WORD_BYTES - Short.BYTES);
  }

  /** What the labels' hash begins with: of the buckets' hash they aren't to follow. */
  static int labelSeed(int seed) {
    return seed + 1;
  }

  /*
   * The kernel scales a hash to what the rule says: by 256 its first byte is left, by 2^32 - 1 one less than the hash. Of
   * that the label has the upper half.
   */
  private static int told(ByteBuffer registers, int seed) {
    byte[] fields = Arrays.copyOf(registers.array(), registers.position());
    int bucket = Lookup3.hash(fields, seed) >>> 24;
    int hash = Lookup3.hash(fields, labelSeed(seed));
    short label = (short) ((hash == 0 ? 0 : hash - 1) >>> 16);
    return bucket << BUCKET_SHIFT | Short.reverseBytes(label) & 0xffff;
  }
}
