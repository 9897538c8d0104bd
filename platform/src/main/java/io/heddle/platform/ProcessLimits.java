package io.heddle.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Formatter of this process's resource limits, for error messages. {@link OpenFiles} has the limit
 * of descriptors.
 */
public final class ProcessLimits {
  /* Numbers of the limits, as in asm-generic/resource.h. */
  private static final int RLIMIT_DATA = 2;
  private static final int RLIMIT_NPROC = 6;
  private static final int RLIMIT_AS = 9;

  private ProcessLimits() {}

  /**
   * Returns the soft limit of a resource, -1 if there is none, or a negated errno if the call
   * fails.
   */
  static long soft(int resource) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment both = arena.allocate(2L * Long.BYTES, Long.BYTES);
      int result = ProcessCalls.getrlimit(resource, both.address());
      return result < 0 ? result : both.get(ValueLayout.JAVA_LONG, 0);
    }
  }

  private static String describe(int resource, long unit, String suffix) {
    long limit = soft(resource);
    return limit < 0 ? "unlimited" : limit / unit + suffix;
  }

  private static String bytes(int resource) {
    return describe(resource, 1024, " KiB");
  }

  /** Describes the limits because of which the kernel may refuse memory. */
  public static String ofMemory() {
    return "limits: ulimit -v is %s, ulimit -d is %s; vm.max_map_count counts mappings"
        .formatted(bytes(RLIMIT_AS), bytes(RLIMIT_DATA));
  }

  /**
   * Describes the limits because of which the kernel may refuse a thread, including those of
   * memory, which the thread's stack needs.
   */
  public static String ofThreads() {
    return ("limits: ulimit -u is %s, ulimit -v is %s, ulimit -d is %s; pids.max of the control"
            + " group (of containers: --pids-limit)")
        .formatted(describe(RLIMIT_NPROC, 1, ""), bytes(RLIMIT_AS), bytes(RLIMIT_DATA));
  }
}
