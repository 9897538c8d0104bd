package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Native address space as one segment, with layouts for access to it.
 *
 * <p>The data path works with plain {@code long} addresses: a segment of a shared arena costs three
 * to five times as much in a foreign call, and NCCL passes bare pointers. Access through {@link
 * #ALL} is unchecked: the caller must have checked the bounds.
 */
public final class Memory {
  /** Segment of all memory; the offset is the native address. */
  public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  public static final ValueLayout.OfShort NATIVE_SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
  public static final ValueLayout.OfInt NATIVE_INT = ValueLayout.JAVA_INT_UNALIGNED;
  public static final ValueLayout.OfLong NATIVE_LONG = ValueLayout.JAVA_LONG_UNALIGNED;
  public static final ValueLayout.OfShort NETWORK_SHORT =
      NATIVE_SHORT.withOrder(java.nio.ByteOrder.BIG_ENDIAN);
  public static final ValueLayout.OfInt NETWORK_INT =
      NATIVE_INT.withOrder(java.nio.ByteOrder.BIG_ENDIAN);
  public static final ValueLayout.OfLong NETWORK_LONG =
      NATIVE_LONG.withOrder(java.nio.ByteOrder.BIG_ENDIAN);

  /*
   * Handles with exact invocation and without alignment check. Code compiled by C1 reads in 1 ns
   * with them, but in 2 ns with a get() of ALL.
   */
  private static final VarHandle EXACT_LONG = NATIVE_LONG.varHandle().withInvokeExactBehavior();
  private static final VarHandle EXACT_INT = NATIVE_INT.varHandle().withInvokeExactBehavior();

  private static final VarHandle BYTE = withoutBase(ValueLayout.JAVA_BYTE);
  private static final VarHandle ALIGNED_INT = withoutBase(ValueLayout.JAVA_INT);
  private static final VarHandle ALIGNED_LONG = withoutBase(ValueLayout.JAVA_LONG);

  /*
   * Whether other processors see this processor's stores in program order. On arm64 they may not.
   */
  private static final boolean SHOWS_STORES_IN_ORDER =
      !System.getProperty("os.arch").equals("aarch64");

  /*
   * Size of a unit that a polling reader considers complete when its last eight bytes have arrived,
   * as in NCCL's protocol LL128.
   */
  private static final int LINE_BYTES = 128;

  private Memory() {}

  private static VarHandle withoutBase(ValueLayout layout) {
    return MethodHandles.insertCoordinates(layout.varHandle(), 0, ALL);
  }

  /** Reads a {@code long}; for hot code. */
  public static long getLong(long address) {
    return (long) EXACT_LONG.get(ALL, address);
  }

  /** Writes a {@code long}; for hot code. */
  public static void setLong(long address, long value) {
    EXACT_LONG.set(ALL, address, value);
  }

  /** Reads an {@code int}; for hot code. */
  public static int getInt(long address) {
    return (int) EXACT_INT.get(ALL, address);
  }

  /**
   * Adds atomically to an aligned {@code long}. The writer's earlier writes are visible to a thread
   * that reads the sum with acquire semantics.
   *
   * @return previous value
   */
  public static long getAndAddLong(long address, long addend) {
    return (long) ALIGNED_LONG.getAndAdd(address, addend);
  }

  /** Writes an {@code int}; for hot code. */
  public static void setInt(long address, int value) {
    EXACT_INT.set(ALL, address, value);
  }

  /**
   * Reads a byte with acquire semantics: all that the byte's writer, a device or thread, wrote
   * before it is then visible.
   */
  public static byte getByteAcquire(long address) {
    return (byte) BYTE.getAcquire(address);
  }

  /** Reads an aligned {@code int} with acquire semantics. */
  public static int getIntAcquire(long address) {
    return (int) ALIGNED_INT.getAcquire(address);
  }

  /** Writes an aligned {@code int} with release semantics. */
  public static void setIntRelease(long address, int value) {
    ALIGNED_INT.setRelease(address, value);
  }

  /** Reads an aligned {@code long} with acquire semantics. */
  public static long getLongAcquire(long address) {
    return (long) ALIGNED_LONG.getAcquire(address);
  }

  /** Writes an aligned {@code long} with release semantics. */
  public static void setLongRelease(long address, long value) {
    ALIGNED_LONG.setRelease(address, value);
  }

  /**
   * Copies {@code lengthBytes} bytes from one native address to another. The ranges may overlap.
   */
  public static void copy(long fromAddress, long toAddress, long lengthBytes) {
    MemorySegment.copy(ALL, fromAddress, ALL, toAddress, lengthBytes);
  }

  /**
   * Copies between ranges that don't overlap, in ascending order, for a reader that polls the
   * destination. A reader that sees the last eight bytes of an aligned 128-byte line sees the whole
   * line.
   */
  public static void copyForPolling(long fromAddress, long toAddress, long lengthBytes) {
    if (SHOWS_STORES_IN_ORDER) {
      copy(fromAddress, toAddress, lengthBytes);
    } else {
      copyByLines(fromAddress, toAddress, lengthBytes);
    }
  }

  static void copyByLines(long fromAddress, long toAddress, long lengthBytes) {
    for (long at = 0; at < lengthBytes; ) {
      long end = Math.min(lengthBytes, (toAddress + at | LINE_BYTES - 1) + 1 - toAddress);
      long last = Math.max(at, end - Long.BYTES);
      copy(fromAddress + at, toAddress + at, last - at);
      VarHandle.storeStoreFence();
      if (end - last == Long.BYTES) {
        setLong(toAddress + last, getLong(fromAddress + last));
      } else {
        copy(fromAddress + last, toAddress + last, end - last);
      }
      at = end;
    }
  }

  /**
   * Fills {@code lengthBytes} bytes at {@code address} with zero. Not for the data path, since it
   * creates a slice, which compilers don't always eliminate.
   */
  public static void clear(long address, long lengthBytes) {
    ALL.asSlice(address, lengthBytes).fill((byte) 0);
  }

  /** Copies a native range into a new array. Only for the control path, since it allocates. */
  public static byte[] toArray(long address, int lengthBytes) {
    return ALL.asSlice(address, lengthBytes).toArray(JAVA_BYTE);
  }

  /** Allocates zeroed memory that lives as long as {@code arena}, and returns its address. */
  public static long allocate(Arena arena, long lengthBytes, long alignmentBytes) {
    return arena.allocate(lengthBytes, alignmentBytes).address();
  }
}
