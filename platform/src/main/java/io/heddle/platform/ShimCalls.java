package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Short functions of the plugin's shim that are faster in C. The shim passes their addresses as
 * system properties when it creates the JVM. A process without the shim lacks these functions;
 * callers then do the same work in Java.
 */
public final class ShimCalls {
  /** Length in bytes of the memory at {@code row}, the last argument of {@link #take}. */
  public static final int ROW_BYTES = 40;

  private static final @Nullable MethodHandle SEAL = find("heddle.packet.seal");
  private static final @Nullable MethodHandle TAKE = find("heddle.packet.take");

  private static final @Nullable MethodHandle SEND = find("heddle.socket.send");
  private static final @Nullable MethodHandle RECEIVE = find("heddle.socket.receive");
  private static final @Nullable MethodHandle READY = find("heddle.socket.ready");
  private static final @Nullable MethodHandle SEND_PAGES = find("heddle.socket.send_pages");

  private ShimCalls() {}

  private static @Nullable MethodHandle find(String property) {
    long address = Long.getLong(property, 0);
    if (address == 0) {
      return null;
    }
    /*
     * These functions never block, and take some microseconds at most. All have one call shape,
     * since each shape costs 2 ms at start.
     */
    return Linker.nativeLinker()
        .downcallHandle(
            MemorySegment.ofAddress(address),
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.critical(false));
  }

  /** Returns whether {@link #buildPackets} may be called. */
  public static boolean canBuildPackets() {
    return SEAL != null;
  }

  /**
   * Builds consecutive RDMA WRITE ONLY packets in adjacent memory. The caller has written the first
   * packet's headers, 28 bytes, at {@code packet}. The other packets' headers are derived from
   * these, without acknowledge request and without tag (see {@code SendTags}). A packet is its
   * headers, its payload, and the CRC-32 of both combined (XOR) with {@code front}, little-endian.
   *
   * @param payloadBytes payload of each packet, a multiple of 256, not 0
   */
  public static void buildPackets(
      long packet, long count, long payload, long payloadBytes, long front) {
    MethodHandle handle = java.util.Objects.requireNonNull(SEAL);
    try {
      long unused = (long) handle.invokeExact(packet, count, payload, payloadBytes, front);
    } catch (Throwable thrown) {
      throw thrown instanceof RuntimeException runtime
          ? runtime
          : new IllegalStateException(thrown);
    }
  }

  /** Returns whether {@link #take} may be called. */
  public static boolean canTake() {
    return TAKE != null;
  }

  /**
   * Checks received RDMA WRITE ONLY packets in adjacent memory, and copies their payloads to their
   * addresses. Stops before a packet that isn't the expected one or has a wrong CRC, and after a
   * packet that requests an acknowledgement.
   *
   * @param stride length of each packet: 32 bytes more than its payload, which is a multiple of
   *     256, not 0
   * @param front value with which each packet's CRC-32 is combined (XOR)
   * @param row address of {@link #ROW_BYTES} with the expected values: first word of the base
   *     transport header, number of the first packet, rkey, address and length of the writable
   *     region
   * @return number of accepted packets in bits 0 to 31; in bits 32 to 39, the last tag among these
   *     packets that isn't 0; in bits 40 to 47, 1 if the last packet requests an acknowledgement
   */
  public static long take(long packet, long stride, long count, long front, long row) {
    MethodHandle handle = java.util.Objects.requireNonNull(TAKE);
    try {
      return (long) handle.invokeExact(packet, stride, count, front, row);
    } catch (Throwable thrown) {
      throw thrown instanceof RuntimeException runtime
          ? runtime
          : new IllegalStateException(thrown);
    }
  }

  /**
   * Returns whether {@link #send}, {@link #receive}, {@link #ready} and {@link #sendPages} may be
   * called.
   */
  static boolean hasSocketCalls() {
    return SEND != null;
  }

  /** Does the work of {@link SocketCalls#send} in C. */
  static long send(long fd, long address, long lengthBytes, long segmentBytes) {
    MethodHandle handle = java.util.Objects.requireNonNull(SEND);
    try {
      return (long) handle.invokeExact(fd, address, lengthBytes, segmentBytes, 0L);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Does the work of {@link SocketCalls#receive} in C. */
  static long receive(long fd, long addressOfMmsghdrs, long count) {
    MethodHandle handle = java.util.Objects.requireNonNull(RECEIVE);
    try {
      return (long) handle.invokeExact(fd, addressOfMmsghdrs, count, 0L, 0L);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Does the work of {@link SocketCalls#ready} in C. */
  static long ready(long epollFd, long addressOfEvents, long mostEvents) {
    MethodHandle handle = java.util.Objects.requireNonNull(READY);
    try {
      return (long) handle.invokeExact(epollFd, addressOfEvents, mostEvents, 0L, 0L);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Does the work of {@link SocketCalls#sendPages} in C. */
  static long sendPages(long pipeIn, long pipeOut, long socketFd, long address, long lengthBytes) {
    MethodHandle handle = java.util.Objects.requireNonNull(SEND_PAGES);
    try {
      return (long) handle.invokeExact(pipeIn, pipeOut, socketFd, address, lengthBytes);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
