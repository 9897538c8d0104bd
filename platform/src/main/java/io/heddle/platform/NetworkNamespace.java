package io.heddle.platform;

import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Access to network namespaces by their ip-netns(8) names. */
public final class NetworkNamespace {
  private static final Path NAMES = Path.of("/run/netns");
  private static final long CLONE_NEWNET = 0x4000_0000L;
  private static final MethodHandle SETNS = Downcalls.find("setns", 2);

  private NetworkNamespace() {}

  /**
   * Moves the calling thread to a namespace. Sockets that it creates then belong to the namespace.
   * The thread must not be virtual or of a pool, since it stays there.
   *
   * @throws SystemCallException with ENOENT for an unknown name, EPERM without CAP_SYS_ADMIN
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

  /**
   * Runs a step on a new thread inside a namespace and waits for its end. Sockets that the step
   * opens stay in the namespace.
   *
   * @throws HeddleException if the step throws a checked exception, or the caller is interrupted;
   *     unchecked exceptions are rethrown
   */
  public static <T> T call(String name, Callable<T> step) {
    FutureTask<T> task =
        new FutureTask<>(() -> {
          enter(name);
          return step.call();
        });
    Thread.ofPlatform().daemon().name("in " + name).start(task);
    try {
      return task.get();
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case RuntimeException unchecked -> throw unchecked;
        case Error error -> throw error;
        case null, default ->
            throw new HeddleException(
                "a step inside " + name + " failed: " + failed.getCause(), failed);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted inside " + name, interrupted);
    }
  }

  private static int setns(int fd) {
    java.lang.foreign.MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) SETNS.invokeExact(capture, (long) fd, CLONE_NEWNET, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
