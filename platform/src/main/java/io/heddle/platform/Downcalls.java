package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Handles of C functions, and the errno of their calls.
 *
 * <p>There are three call shapes, of 3, 5 and 7 arguments, since each shape costs 3 ms at start-up.
 * A function with fewer arguments ignores the zeros passed after them. Integers are passed as
 * {@code long}: the x86-64 and arm64 calling conventions ignore the upper half of an {@code int}
 * argument's register.
 */
final class Downcalls {
  static final Linker LINKER = Linker.nativeLinker();
  static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final VarHandle ERRNO_VALUE =
      Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));

  /*
   * One capture segment per thread, since errno is meaningful only on the thread that made the
   * call.
   */
  private static final ThreadLocal<MemorySegment> CAPTURE =
      ThreadLocal.withInitial(() -> Arena.global().allocate(Linker.Option.captureStateLayout()));

  private Downcalls() {}

  static MethodHandle find(String name, int arguments) {
    MemoryLayout[] layouts = new MemoryLayout[arguments <= 3 ? 3 : arguments <= 5 ? 5 : 7];
    Arrays.fill(layouts, JAVA_LONG);
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(JAVA_LONG, layouts), ERRNO);
  }

  /** Returns the capture segment of the calling thread. */
  static MemorySegment capture() {
    return CAPTURE.get();
  }

  /** Returns the errno in a capture segment. */
  static int errno(MemorySegment capture) {
    return (int) ERRNO_VALUE.get(capture, 0L);
  }

  static long result(MemorySegment capture, long value) {
    return value == -1 ? -errno(capture) : value;
  }

  /*
   * Converts the result of a C function that returns an int. Such a function leaves the upper half
   * of the register undefined.
   */
  static int intResult(MemorySegment capture, long value) {
    return (int) value == -1 ? -errno(capture) : (int) value;
  }

  static RuntimeException unexpected(Throwable thrown) {
    return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }
}
