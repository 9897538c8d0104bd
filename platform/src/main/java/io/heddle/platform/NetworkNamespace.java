package io.heddle.platform;

import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Network namespace with a name, as ip-netns(8) creates it. {@link NetworkTopology} creates them.
 *
 * @param name name of the namespace
 */
public record NetworkNamespace(String name) {
  static final Path NAMES = Path.of("/run/netns");
  private static final Path SETTINGS = Path.of("/proc/sys");
  private static final long CLONE_NEWNET = 0x4000_0000L;
  private static final MethodHandle SETNS = Downcalls.find("setns", 2);

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

  /** Moves the calling thread to this namespace, as {@link #enter(String)} does. */
  public void enter() {
    enter(name);
  }

  /** Runs a step inside this namespace, as {@link #call(String, Callable)} does. */
  public <T> T call(Callable<T> step) {
    return call(name, step);
  }

  /** Returns the command line that runs a command in this namespace. */
  public List<String> command(List<String> command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name));
    whole.addAll(command);
    return whole;
  }

  /** Runs a command in this namespace; returns its output. */
  public String run(String... command) {
    return run(List.of(command), "");
  }

  /** Runs a command in this namespace with this standard input; returns its output. */
  public String run(List<String> command, String input) {
    return Shell.run(command(command), input);
  }

  /** Runs lines of {@code ip -batch} in this namespace. */
  public void ip(String... lines) {
    ip(List.of(lines));
  }

  /** Runs lines of {@code ip -batch} in this namespace. */
  public void ip(List<String> lines) {
    Shell.run(List.of("ip", "-n", name, "-batch", "-"), String.join("\n", lines) + "\n");
  }

  /**
   * Applies kernel settings in this namespace.
   *
   * @param settings settings as sysctl(8) takes them, such as {@code net.ipv4.ip_forward=1}
   */
  public void set(List<String> settings) {
    call(() -> {
      for (String each : settings) {
        String[] setting = each.split("=", 2);
        Files.writeString(SETTINGS.resolve(setting[0].replace('.', '/')), setting[1]);
      }
      return null;
    });
  }

  void add() {
    Shell.run(List.of("ip", "netns", "add", name));
  }

  /** Removes the namespace's name. The namespace ends with the last process in it. */
  public void remove() {
    Shell.run(List.of("ip", "netns", "del", name));
  }
}
