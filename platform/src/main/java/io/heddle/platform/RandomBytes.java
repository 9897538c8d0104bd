package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Source of cryptographically random bytes: the kernel (getrandom(2)). {@link
 * java.security.SecureRandom} has the same source, but its first use takes 14 ms to list security
 * providers, a tenth of the plugin's start.
 */
public final class RandomBytes {
  /* Largest request in bytes that a signal never shortens. */
  private static final int MOST = 256;

  private RandomBytes() {}

  /**
   * Returns new random bytes.
   *
   * @param count number of bytes, up to 256
   */
  public static byte[] of(int count) {
    try (Arena arena = Arena.ofConfined()) {
      return draw(arena, count).toArray(JAVA_BYTE);
    }
  }

  public static long nextLong() {
    try (Arena arena = Arena.ofConfined()) {
      return draw(arena, Long.BYTES).get(JAVA_LONG, 0);
    }
  }

  /** Returns a number with this many random low bits, up to 31. The other bits are 0. */
  public static int nextBits(int bits) {
    if (bits < 0 || bits > 31) {
      throw new IllegalArgumentException("0 to 31 bits, not " + bits);
    }
    return (int) (nextLong() & (1L << bits) - 1);
  }

  private static MemorySegment draw(Arena arena, int count) {
    if (count > MOST) {
      throw new IllegalArgumentException("up to " + MOST + " bytes, not " + count);
    }
    MemorySegment bytes = arena.allocate(count, Long.BYTES);
    long drawn = ProcessCalls.getrandom(bytes.address(), count);
    if (drawn != count) {
      throw new SystemCallException("getrandom", drawn < 0 ? (int) -drawn : Errno.EAGAIN);
    }
    return bytes;
  }
}
