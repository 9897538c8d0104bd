package io.heddle.platform;

import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** Network namespaces by the names that ip-netns(8) gives them. */
public final class NetworkNamespace {
  private static final Path NAMES = Path.of("/run/netns");
  private static final long CLONE_NEWNET = 0x4000_0000L;
  private static final MethodHandle SETNS = LinuxCalls.find("setns", 2);

  private NetworkNamespace() {}

  /**
   * Has the calling thread live in a namespace from now on; sockets that it makes belong there. Not
   * for a virtual thread, nor for one that others use.
   *
   * @throws SystemCallException with ENOENT where there is none of that name, EPERM without
   *     CAP_SYS_ADMIN
   */
  public static void enter(String name) {
    int fd =
        FileCalls.openat(
            FileCalls.AT_FDCWD,
            NAMES.resolve(name).toString(),
            FileCalls.O_RDONLY | FileCalls.O_CLOEXEC,
            0);
    if (fd < 0) {
      throw new SystemCallException("open " + NAMES.resolve(name), -fd);
    }
    try {
      int result = setns(fd);
      if (result < 0) {
        throw new SystemCallException("setns " + name, -result);
      }
    } finally {
      LinuxCalls.close(fd);
    }
  }

  private static int setns(int fd) {
    java.lang.foreign.MemorySegment capture = LinuxCalls.errnoCapture();
    try {
      return LinuxCalls.intResult(
          capture, (long) SETNS.invokeExact(capture, (long) fd, CLONE_NEWNET, 0L));
    } catch (Throwable thrown) {
      throw LinuxCalls.unexpected(thrown);
    }
  }
}
