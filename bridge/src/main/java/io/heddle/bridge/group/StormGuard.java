package io.heddle.bridge.group;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;

/**
 * Remembers for a moment what was sent into a fabric, so that a copy that comes back from there is
 * recognised, whoever sent it. That is the last of the loop rules, for a second bridge that nobody
 * knows of.
 *
 * <p>A set of digests with times in native memory, four places a bucket. The oldest of a bucket
 * goes first, so at very high rates a digest may be forgotten before its time. The data thread's.
 */
public final class StormGuard {
  /** For how long a digest counts. */
  public static final long MEMORY_NS = 100_000_000;

  private static final int BUCKETS = 1 << 15;
  private static final int WAYS = 4;
  private static final int ENTRY_BYTES = 16;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long entries;

  /**
   * @param arena as long as the guard is used
   */
  public StormGuard(Arena arena) {
    entries = Memory.allocate(arena, (long) BUCKETS * WAYS * ENTRY_BYTES, 64);
  }

  /**
   * A packet's digest: what is left of it on any fabric. 64 bits, since 32 alone would take one
   * packet in 40,000 for another at a million a second.
   *
   * @param crc of the packet from BTH to pad
   * @param packet its address
   * @param length bytes from BTH to pad, at least 20
   */
  public static long digest(int crc, long packet, int length) {
    long tail = Memory.getLong(packet + length - Long.BYTES);
    long middle = Memory.getLong(packet + 12);
    long mixed = (tail * MIX ^ middle) * MIX + Memory.getInt(packet + 8) + length;
    return (mixed ^ mixed >>> 29) << 32 | crc & 0xffff_ffffL;
  }

  /**
   * The same of what is left of a packet where a fabric's end gives it a number and a queue pair of
   * its own: group, immediate and payload.
   *
   * @param packet a datagram of the service
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

  /** A packet of this digest is sent now. */
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

  /** Whether a packet of this digest was sent within {@link #MEMORY_NS}. */
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
