package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Short functions of the plugin's shim that are faster in C. The shim passes their addresses as
 * system properties when it creates the JVM. In other processes they are missing, and callers do
 * the same in Java.
 */
public final class ShimCalls {
  /** Length of the row descriptor of {@link #take}. */
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

  /** Returns whether {@link #seal} may be called. */
  public static boolean canSeal() {
    return SEAL != null;
  }

  /**
   * Builds a row of WRITE ONLY packets. The first packet's headers, 28 bytes, are at {@code
   * packet}. The other headers are derived from them, without acknowledge request and tag. Each
   * packet has headers, payload, and the CRC-32 of both combined with {@code front}, little-endian.
   *
   * @param payloadBytes payload of each packet, a multiple of 256, not 0
   */
  public static void seal(long packet, long count, long payload, long payloadBytes, long front) {
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
   * Takes packets of a row of WRITE ONLY packets while each is the expected packet and has the
   * right CRC, and places their payloads at their addresses. Stops after a packet that requests an
   * acknowledgement.
   *
   * @param stride length of each packet, 32 more than its payload, which is a multiple of 256, not
   *     0
   * @param front value combined with each packet's own CRC-32
   * @param row address of {@link #ROW_BYTES}: first word of the base transport header, first
   *     packet's number, rkey, address and length of the writable region
   * @return number of packets taken, in the low 32 bits; above them, 8 bits each, the newest tag
   *     that isn't 0, and 1 if the last packet requests an acknowledgement
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

  /** Sends as {@link SocketCalls#send} does. */
  static long send(long fd, long address, long lengthBytes, long segmentBytes) {
    MethodHandle handle = java.util.Objects.requireNonNull(SEND);
    try {
      return (long) handle.invokeExact(fd, address, lengthBytes, segmentBytes, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** Receives as {@link SocketCalls#receive} does. */
  static long receive(long fd, long addressOfMmsghdrs, long count) {
    MethodHandle handle = java.util.Objects.requireNonNull(RECEIVE);
    try {
      return (long) handle.invokeExact(fd, addressOfMmsghdrs, count, 0L, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** Polls as {@link SocketCalls#ready} does. */
  static long ready(long epollFd, long addressOfEvents, long mostEvents) {
    MethodHandle handle = java.util.Objects.requireNonNull(READY);
    try {
      return (long) handle.invokeExact(epollFd, addressOfEvents, mostEvents, 0L, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** Sends as {@link SocketCalls#sendPages} does. */
  static long sendPages(long pipeIn, long pipeOut, long socketFd, long address, long lengthBytes) {
    MethodHandle handle = java.util.Objects.requireNonNull(SEND_PAGES);
    try {
      return (long) handle.invokeExact(pipeIn, pipeOut, socketFd, address, lengthBytes);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }
}
