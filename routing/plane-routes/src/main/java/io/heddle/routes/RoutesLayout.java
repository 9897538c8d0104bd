package io.heddle.routes;

import io.heddle.platform.Memory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Layout of a routes file, little-endian.
 *
 * <pre>
 * header, 512 bytes
 *     0 "HDLROUT1"                          8 sequence, u64 ({@link SequenceLock}; generation = sequence ÷ 2)
 *    16 state, u32                         20 process id, u32
 *    24 start, ms since 1970, u64          32 heartbeat, CLOCK_MONOTONIC ns, u64
 *    40 heartbeat period, ms, u32          44 cells in a slot, u32
 *    48 planes, u32                        52 bytes of a slot, u32
 *    56 slots, a power of two, u32         60 entries, u32
 *    64 last change, CLOCK_MONOTONIC ns    72 {@link MissingFigure}, u32
 *    76 weight of a route without figure   80 prefix lengths in use, 129 bits in 3 × u64
 *   104 percent of its weight that a plane on a borrowed path keeps, u32
 *   128 publisher, 128 bytes, NUL-padded UTF-8
 * planes, from 512, 160 bytes each
 *     0 key, 64 bytes of text              64 source address, 16 bytes, zero where there is none
 *    80 rate, Mbit/s, u32                  84 peer of its routes, 72 bytes of text
 * slots, from the next multiple of 4096; open addressing, linear probing
 *     0 prefix, 16 bytes as two u64        16 prefix length + 1, u32; 0 is a free slot
 *    24 a {@link RouteCell} per plane
 * </pre>
 */
final class RoutesLayout {
  static final long MAGIC = 0x3154554f524c4448L;
  static final int HEADER_BYTES = 512;
  static final int PLANE_BYTES = 160;
  static final int MAX_PLANES = 64;

  static final int SEQUENCE = 8;
  static final int STATE = 16;
  static final int PROCESS = 20;
  static final int START = 24;
  static final int HEARTBEAT = 32;
  static final int HEARTBEAT_PERIOD = 40;
  static final int CELLS = 44;
  static final int PLANES = 48;
  static final int SLOT_BYTES = 52;
  static final int SLOTS = 56;
  static final int ENTRIES = 60;
  static final int CHANGED = 64;
  static final int MISSING_FIGURE = 72;
  static final int DEFAULT_WEIGHT = 76;
  static final int LENGTHS = 80;
  static final int BORROWED_PERCENT = 104;
  static final int PUBLISHER = 128;
  static final int PUBLISHER_BYTES = 128;

  /** State of a file that is still being built and that readers don't see yet. */
  static final int BEING_BUILT = 0;

  /** State of a file that readers use. */
  static final int LIVE = 1;

  /** State of a file that a newer file has replaced. */
  static final int SUPERSEDED = 2;

  /** State of a file whose daemon has ended in good order. */
  static final int ENDED = 3;

  static final int PLANE_KEY_BYTES = 64;
  static final int PLANE_SOURCE = 64;
  static final int PLANE_RATE = 80;
  static final int PLANE_VIA = 84;
  static final int PLANE_VIA_BYTES = 72;

  static final int SLOT_HIGH = 0;
  static final int SLOT_LOW = 8;
  static final int SLOT_LENGTH = 16;
  static final int SLOT_CELLS = 24;

  private static final int PAGE_BYTES = 4096;
  private static final int MAPPED_BITS = 96;

  private RoutesLayout() {}

  static long planeOffset(int plane) {
    return HEADER_BYTES + (long) plane * PLANE_BYTES;
  }

  static long slotsOffset(int cells) {
    return (planeOffset(cells) + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  }

  static int slotBytes(int cells) {
    return (SLOT_CELLS + cells * Integer.BYTES + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
  }

  static long fileBytes(int cells, int slots) {
    return slotsOffset(cells) + (long) slots * slotBytes(cells);
  }

  /**
   * Returns an address's upper half, in which all bits after the address's first {@code length}
   * bits are zero.
   */
  static long maskHigh(long high, int length) {
    return length >= 64 ? high : length == 0 ? 0 : high & -1L << 64 - length;
  }

  /**
   * Returns an address's lower half, in which all bits after the address's first {@code length}
   * bits are zero.
   */
  static long maskLow(long low, int length) {
    return length >= 128 ? low : length <= 64 ? 0 : low & -1L << 128 - length;
  }

  /**
   * Returns the length of the shortest prefix that may be a route to an address. An IPv4 address is
   * stored as a mapped address (RFC 4291 §2.5.5.2), for which no IPv6 route is used, not even the
   * default route.
   */
  static int shortestFor(long high, long low) {
    return high == 0 && low >>> 32 == 0xffff ? MAPPED_BITS : 0;
  }

  /**
   * Returns the sixteen bytes of an address. An IPv4 address is mapped to IPv6; null gives zeros.
   */
  static byte[] bytes(@Nullable InetAddress address) {
    if (!(address instanceof Inet4Address)) {
      return address == null ? new byte[16] : address.getAddress();
    }
    byte[] raw = new byte[16];
    raw[10] = raw[11] = (byte) 0xff;
    System.arraycopy(address.getAddress(), 0, raw, 12, 4);
    return raw;
  }

  /*
   * Returns the hash of a prefix. The addresses of a fabric differ in few bits of both halves, so
   * every bit must affect the hash's low bits.
   */
  static int hash(long high, long low, int length) {
    long mixed = (high ^ length) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 32 ^ low) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 29) * 0x94d049bb133111ebL;
    return (int) (mixed ^ mixed >>> 32);
  }

  static int getInt(long address) {
    return Memory.ALL.get(Memory.NATIVE_INT, address);
  }

  static void setInt(long address, int value) {
    Memory.ALL.set(Memory.NATIVE_INT, address, value);
  }

  static long getLong(long address) {
    return Memory.ALL.get(Memory.NATIVE_LONG, address);
  }

  static void setLong(long address, long value) {
    Memory.ALL.set(Memory.NATIVE_LONG, address, value);
  }

  static String text(long address, int fieldBytes) {
    byte[] bytes = Memory.toArray(address, fieldBytes);
    int length = 0;
    while (length < fieldBytes && bytes[length] != 0) {
      length++;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  static void putText(long address, int fieldBytes, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    Memory.clear(address, fieldBytes);
    MemorySegment.copy(
        bytes,
        0,
        Memory.ALL,
        ValueLayout.JAVA_BYTE,
        address,
        Math.min(bytes.length, fieldBytes - 1));
  }
}
