package io.heddle.bridge.multicast;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;

/**
 * Detector of packets that come back from a fabric soon after they were sent into it. It detects
 * loops that {@link LoopRules} doesn't, such as those through a second bridge that no configuration
 * names.
 *
 * <p>It is a hash set of packet digests and send times in native memory, four entries per bucket.
 * The oldest entry of a bucket is replaced first, so at very high rates a digest may be forgotten
 * early. Used by the data thread only.
 */
public final class StormGuard {
  /** Lifetime of a digest. */
  public static final long MEMORY_NS = 100_000_000;

  private static final int BUCKETS = 1 << 15;
  private static final int WAYS = 4;
  private static final int ENTRY_BYTES = 16;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long entries;

  /**
   * @param arena arena with the guard's lifetime
   */
  public StormGuard(Arena arena) {
    entries = Memory.allocate(arena, (long) BUCKETS * WAYS * ENTRY_BYTES, 64);
  }

  /**
   * Returns a packet's digest, over fields that no fabric changes. It has 64 bits: with 32 bits, at
   * a million packets a second, one packet in 40,000 would match another.
   *
   * @param crc CRC of the packet from BTH to pad
   * @param packet address of the packet
   * @param length bytes from BTH to pad, at least 20
   */
  public static long digest(int crc, long packet, int length) {
    long tail = Memory.getLong(packet + length - Long.BYTES);
    long middle = Memory.getLong(packet + 12);
    long mixed = (tail * MIX ^ middle) * MIX + Memory.getInt(packet + 8) + length;
    return (mixed ^ mixed >>> 29) << 32 | crc & 0xffff_ffffL;
  }

  /**
   * Returns the digest for fabrics where the sending port assigns its own sequence number and queue
   * pair. It covers group, opcode, immediate data and payload.
   *
   * @param packet address of an unreliable datagram
   * @param length bytes from BTH to CRC
   */
  public static long payloadDigest(Gid group, long packet, int length) {
    int opcode = PacketFormat.opcode(packet);
    long at = packet + DatagramFormat.HEADER_BYTES;
    long end = packet + DatagramFormat.headerBytes(opcode);
    end += DatagramFormat.payloadBytes(packet, length);
    long mixed = (group.high() * MIX ^ group.low()) * MIX + opcode;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      mixed = mix(mixed, Memory.getLong(at));
    }
    long rest = 0;
    for (; at < end; at++) {
      rest = rest << Byte.SIZE | Memory.ALL.get(ValueLayout.JAVA_BYTE, at) & 0xff;
    }
    return mix(mix(mixed, rest), length);
  }

  private static long mix(long mixed, long next) {
    long product = (mixed ^ next) * MIX;
    return product ^ product >>> 32;
  }

  private long bucket(long digest) {
    long index = (digest * MIX >>> 40) & BUCKETS - 1;
    return entries + index * WAYS * ENTRY_BYTES;
  }

  /** Records that a packet of this digest is sent now. */
  public void sent(long digest, long nowNs) {
    long bucket = bucket(digest);
    long oldest = bucket;
    for (int i = 0; i < WAYS; i++) {
      long entry = bucket + (long) i * ENTRY_BYTES;
      if (Memory.getLong(entry + 8) - Memory.getLong(oldest + 8) < 0) {
        oldest = entry;
      }
    }
    Memory.setLong(oldest, digest);
    Memory.setLong(oldest + 8, nowNs);
  }

  /** Returns whether a packet of this digest was sent within {@link #MEMORY_NS}. */
  public boolean wasSent(long digest, long nowNs) {
    long bucket = bucket(digest);
    for (int i = 0; i < WAYS; i++) {
      long entry = bucket + (long) i * ENTRY_BYTES;
      if (Memory.getLong(entry) == digest
          && Memory.getLong(entry + 8) != 0
          && nowNs - Memory.getLong(entry + 8) < MEMORY_NS) {
        return true;
      }
    }
    return false;
  }
}
