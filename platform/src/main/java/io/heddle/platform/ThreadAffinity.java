package io.heddle.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;

/** CPU affinity of the calling thread. */
public final class ThreadAffinity {
  private static final MethodHandle SCHED_GETAFFINITY = Downcalls.find("sched_getaffinity", 3);
  private static final MethodHandle SCHED_SETAFFINITY = Downcalls.find("sched_setaffinity", 3);
  private static final long MASK_BYTES = 1024;

  private ThreadAffinity() {}

  /**
   * Returns the processors that the calling thread may run on.
   *
   * @throws SystemCallException if the call fails
   */
  public static BitSet allowed() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      require("sched_getaffinity", call(SCHED_GETAFFINITY, mask));
      return BitSet.valueOf(mask.asByteBuffer());
    }
  }

  /**
   * Pins the calling thread to one processor.
   *
   * @throws SystemCallException if the processor doesn't exist, or isn't allowed for this process
   */
  public static void pinThisThread(int processor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
      mask.set(ValueLayout.JAVA_LONG, processor / Long.SIZE * (long) Long.BYTES, 1L << processor);
      require("sched_setaffinity(" + processor + ")", call(SCHED_SETAFFINITY, mask));
    }
  }

  private static int call(MethodHandle function, MemorySegment mask) {
    MemorySegment capture = Downcalls.capture();
    try {
      long result = (long) function.invokeExact(capture, 0L, MASK_BYTES, mask.address());
      return Downcalls.intResult(capture, result);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  private static void require(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
  }
}
