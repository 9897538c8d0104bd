package io.heddle.platform;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Linux system calls on processes: identities, limits and random bytes. The conventions are those
 * of {@link LinuxCalls}.
 */
public final class ProcessCalls {
  private static final MethodHandle GETPID = Downcalls.find("getpid", 0);
  private static final MethodHandle GETEUID = Downcalls.find("geteuid", 0);
  private static final MethodHandle KILL = Downcalls.find("kill", 2);
  private static final MethodHandle GETRANDOM = Downcalls.find("getrandom", 3);
  private static final MethodHandle GETRLIMIT = Downcalls.find("getrlimit", 2);

  private ProcessCalls() {}

  /**
   * Returns this process's id. Java's ProcessHandle would start threads that wait for child
   * processes.
   */
  public static int getpid() {
    try {
      return (int) (long) GETPID.invokeExact(Downcalls.capture(), 0L, 0L, 0L);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Returns the effective user id of this process. */
  public static int geteuid() {
    try {
      return (int) (long) GETEUID.invokeExact(Downcalls.capture(), 0L, 0L, 0L);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Returns whether a process with this id exists. This also finds other users' processes, even if
   * {@code /proc} hides them.
   */
  public static boolean isAlive(int pid) {
    MemorySegment capture = Downcalls.capture();
    try {
      int result =
          Downcalls.intResult(
              capture, (long) KILL.invokeExact(capture, (long) pid, 0L /* no signal */, 0L));
      return result == 0 || result == -Errno.EPERM;
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Writes the soft and the hard limit of a resource to memory, each as a long. */
  static int getrlimit(int resource, long limits) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) GETRLIMIT.invokeExact(capture, (long) resource, limits, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Fills memory with random bytes. A signal never shortens requests of up to 256 bytes. Returns
   * the number of bytes, or the negated errno.
   */
  public static long getrandom(long address, int lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.result(
          capture, (long) GETRANDOM.invokeExact(capture, address, (long) lengthBytes, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
