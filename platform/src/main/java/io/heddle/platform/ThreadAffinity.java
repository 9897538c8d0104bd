package io.heddle.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;

/** The processors that a thread may run on. */
public final class ThreadAffinity {
  private static final MethodHandle SCHED_GETAFFINITY = LinuxCalls.find("sched_getaffinity", 3);
  private static final MethodHandle SCHED_SETAFFINITY = LinuxCalls.find("sched_setaffinity", 3);
  private static final long MASK_BYTES = 1024;

  private ThreadAffinity() {}

  /**
   * Those of the calling thread.
   *
   * @throws SystemCallException where the system doesn't say
   */
  public static BitSet allowed() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      require("sched_getaffinity", call(SCHED_GETAFFINITY, mask));
      return BitSet.valueOf(mask.asByteBuffer());
    }
  }

  /**
   * Has the calling thread run on one processor only, from now on.
   *
   * @throws SystemCallException where the system refuses: there is no such processor, or it isn't
   *     this process's
   */
  public static void pinThisThread(int processor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      mask.set(ValueLayout.JAVA_LONG, processor / Long.SIZE * (long) Long.BYTES, 1L << processor);
      require("sched_setaffinity(" + processor + ")", call(SCHED_SETAFFINITY, mask));
    }
  }

  private static int call(MethodHandle function, MemorySegment mask) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    try {
      long result = (long) function.invokeExact(capture, 0L, MASK_BYTES, mask.address());
      return LinuxCalls.intResult(capture, result);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  private static void require(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
  }
}
