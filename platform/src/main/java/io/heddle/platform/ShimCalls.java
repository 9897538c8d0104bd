package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Short functions that the plugin's shim brings because C does them quicker. The shim names their
 * addresses by system properties when it makes the Java machine; elsewhere there are none, and the
 * caller does the same in Java.
 */
public final class ShimCalls {
  private static final @Nullable MethodHandle SEAL = find("heddle.packet.seal", 5);

  private ShimCalls() {}

  private static @Nullable MethodHandle find(String property, int arguments) {
    long address = Long.getLong(property, 0);
    if (address == 0) {
      return null;
    }
    var layouts = new java.lang.foreign.MemoryLayout[arguments];
    java.util.Arrays.fill(layouts, JAVA_LONG);
    /* Never blocks, and takes a few microseconds at most. */
    return Linker.nativeLinker()
        .downcallHandle(
            MemorySegment.ofAddress(address),
            FunctionDescriptor.of(JAVA_LONG, layouts),
            Linker.Option.critical(false));
  }

  /** Whether {@link #seal} may be called. */
  public static boolean canSeal() {
    return SEAL != null;
  }

  /**
   * Makes a row of WRITE ONLY packets. The first one's headers, 28 bytes, lie at {@code packet};
   * the others get theirs from it, without its request for an acknowledgement and its tag. Behind
   * each one's headers come its bytes of the payload, and behind these the CRC-32 of both with
   * {@code front} on top, as it is stored little-endian.
   *
   * @param payloadBytes of each packet, a multiple of 256, not 0
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
}
