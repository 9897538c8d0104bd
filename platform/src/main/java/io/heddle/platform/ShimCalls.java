package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Short functions of the plugin's shim that are faster in C. The shim passes their addresses as
 * system properties when it creates the JVM. Elsewhere they are missing, and callers do the same in
 * Java.
 */
public final class ShimCalls {
  /** Length of the row descriptor of {@link #take}. */
  public static final int ROW_BYTES = 40;

  private static final @Nullable MethodHandle SEAL = find("heddle.packet.seal");
  private static final @Nullable MethodHandle TAKE = find("heddle.packet.take");

  private static final @Nullable MethodHandle SEND = find("heddle.socket.send");
  private static final @Nullable MethodHandle RECEIVE = find("heddle.socket.receive");
  private static final @Nullable MethodHandle READY = find("heddle.socket.ready");
  private static final @Nullable MethodHandle LEND = find("heddle.socket.lend");

  private ShimCalls() {}

  private static @Nullable MethodHandle find(String property) {
    long address = Long.getLong(property, 0);
    if (address == 0) {
      return null;
    }
    /* They never block and take some microseconds at most. One call shape for all: each costs 2 ms at start. */
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
   * Builds a row of WRITE ONLY packets. The first one's headers, 28 bytes, are at {@code packet};
   * the others derive theirs from it, without its acknowledge request and tag. Each packet is
   * headers, payload, then the CRC-32 of both combined with {@code front}, little-endian.
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
   * Takes packets of a row of WRITE ONLY packets while each is the expected one and its CRC is
   * right; only then is its payload placed at its address. Stops after one that requests an
   * acknowledgement.
   *
   * @param stride length of each packet, 32 more than its payload, which is a multiple of 256, not
   *     0
   * @param front value combined with each packet's own CRC-32
   * @param row address of {@link #ROW_BYTES}: first word of the base transport header, first
   *     packet's number, rkey, address and length of the writable region
   * @return number of packets taken, in the low 32 bits; above them, 8 bits each, the newest tag
   *     that isn't 0, and 1 where the last packet requests an acknowledgement
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
   * Returns whether {@link #send}, {@link #receive}, {@link #ready} and {@link #lend} may be
   * called.
   */
  static boolean hasSocketCalls() {
    return SEND != null;
  }

  /** As {@link SocketCalls#send}. */
  static long send(long fd, long address, long lengthBytes, long segmentBytes) {
    MethodHandle handle = java.util.Objects.requireNonNull(SEND);
    try {
      return (long) handle.invokeExact(fd, address, lengthBytes, segmentBytes, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** As {@link SocketCalls#receive}. */
  static long receive(long fd, long addressOfMmsghdrs, long count) {
    MethodHandle handle = java.util.Objects.requireNonNull(RECEIVE);
    try {
      return (long) handle.invokeExact(fd, addressOfMmsghdrs, count, 0L, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** As {@link SocketCalls#ready}. */
  static long ready(long epollFd, long addressOfEvents, long mostEvents) {
    MethodHandle handle = java.util.Objects.requireNonNull(READY);
    try {
      return (long) handle.invokeExact(epollFd, addressOfEvents, mostEvents, 0L, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** As {@link SocketCalls#lend}. */
  static long lend(long pipeIn, long pipeOut, long socketFd, long address, long lengthBytes) {
    MethodHandle handle = java.util.Objects.requireNonNull(LEND);
    try {
      return (long) handle.invokeExact(pipeIn, pipeOut, socketFd, address, lengthBytes);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }
}
