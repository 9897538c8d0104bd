package io.heddle.platform;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Linux system calls on processes: identities, limits and random bytes. The conventions are those
 * of {@link LinuxCalls}.
 */
public final class ProcessCalls {
  private static final MethodHandle GETPID = LinuxCalls.find("getpid", 0);
  private static final MethodHandle GETEUID = LinuxCalls.find("geteuid", 0);
  private static final MethodHandle KILL = LinuxCalls.find("kill", 2);
  private static final MethodHandle GETRANDOM = LinuxCalls.find("getrandom", 3);
  private static final MethodHandle GETRLIMIT = LinuxCalls.find("getrlimit", 2);

  private ProcessCalls() {}

  /**
   * Returns this process's id. Java's ProcessHandle would start threads that wait for child
   * processes.
   */
  public static int getpid() {
    try {
      return (int) (long) GETPID.invokeExact(LinuxCalls.errnoCapture(), 0L, 0L, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** Returns the effective user id of this process. */
  public static int geteuid() {
    try {
      return (int) (long) GETEUID.invokeExact(LinuxCalls.errnoCapture(), 0L, 0L, 0L);
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /**
   * Returns whether a process with this id exists. This also finds other users' processes, even if
   * {@code /proc} hides them.
   */
  public static boolean isAlive(int pid) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    try {
      int result =
          LinuxCalls.intResult(
              capture, (long) KILL.invokeExact(capture, (long) pid, 0L /* no signal */, 0L));
      return result == 0 || result == -Errno.EPERM;
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /** Writes the soft and the hard limit of a resource to memory, each as a long. */
  static int getrlimit(int resource, long limits) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    try {
      return LinuxCalls.intResult(
          capture, (long) GETRLIMIT.invokeExact(capture, (long) resource, limits, 0L));
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }

  /**
   * Fills memory with random bytes. A signal never shortens requests of up to 256 bytes. Returns
   * the number of bytes, or the negated errno.
   */
  public static long getrandom(long address, int lengthBytes) {
    MemorySegment capture = LinuxCalls.errnoCapture();
    try {
      return LinuxCalls.result(
          capture, (long) GETRANDOM.invokeExact(capture, address, (long) lengthBytes, 0L));
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }
}
