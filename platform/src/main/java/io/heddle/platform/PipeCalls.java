package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Linux system calls on pipes. The conventions are those of {@link LinuxCalls}. */
public final class PipeCalls {
  private static final MethodHandle PIPE2 = Downcalls.find("pipe2", 2);
  private static final MethodHandle VMSPLICE = Downcalls.find("vmsplice", 4);
  private static final MethodHandle SPLICE = Downcalls.find("splice", 6);

  private PipeCalls() {}

  /**
   * Creates a pipe. Writes the descriptors of its read end and write end, two C {@code int}, to the
   * address.
   */
  public static int pipe(long addressOfEnds, int flags) {
    MemorySegment capture = Downcalls.capture();
    try {
      int result =
          Downcalls.intResult(
              capture, (long) PIPE2.invokeExact(capture, addressOfEnds, (long) flags, 0L));
      return result < 0 ? result : enterPipeEnds(addressOfEnds);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Puts the pages of an iovec into a pipe without a copy and without blocking. Returns the number
   * of bytes that the pipe took, or the negated errno.
   */
  public static long vmsplice(MemorySegment capture, int pipeFd, long addressOfIovec) {
    try {
      return Downcalls.result(
          capture,
          (long)
              VMSPLICE.invokeExact(
                  capture, (long) pipeFd, addressOfIovec, 1L, 2L /* SPLICE_F_NONBLOCK */, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Moves bytes from a pipe to a socket without blocking. Returns the number of bytes, or the
   * negated errno.
   */
  public static long splice(MemorySegment capture, int pipeFd, int socketFd, long lengthBytes) {
    try {
      return Downcalls.result(
          capture,
          (long)
              SPLICE.invokeExact(
                  capture,
                  (long) pipeFd,
                  0L,
                  (long) socketFd,
                  0L,
                  lengthBytes,
                  2L /* SPLICE_F_NONBLOCK */,
                  0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  private static int enterPipeEnds(long addressOfEnds) {
    MemorySegment ends = MemorySegment.ofAddress(addressOfEnds).reinterpret(2L * Integer.BYTES);
    int failure = 0;
    for (int i = 0; i < 2; i++) {
      int moved = LinuxCalls.enterDescriptor(ends.getAtIndex(JAVA_INT, i));
      ends.setAtIndex(JAVA_INT, i, moved);
      failure = Math.min(failure, moved);
    }
    for (int i = 0; i < 2 && failure < 0; i++) {
      if (ends.getAtIndex(JAVA_INT, i) >= 0) {
        LinuxCalls.close(ends.getAtIndex(JAVA_INT, i));
      }
    }
    return failure;
  }
}
