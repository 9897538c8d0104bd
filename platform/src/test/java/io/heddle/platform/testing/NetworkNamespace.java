package io.heddle.platform.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Assumptions;

/**
 * Network namespace of a test. Threads of this process enter it (setns(2)); then their sockets, and
 * /proc/sys/net as they see it, are those of the namespace. {@code close} removes the namespace.
 */
public final class NetworkNamespace implements AutoCloseable {
  private static int created;

  private final String name;
  /* Shutdown hook that cleans up after interrupted tests. */
  private final Thread atExit;

  private NetworkNamespace(String name) {
    this.name = name;
    atExit = new Thread(this::remove, "remove-" + name);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * Creates a namespace.
   *
   * @param label suffix of the namespace's name
   */
  public static NetworkNamespace create(String label) {
    String name = "hdt-" + ProcessHandle.current().pid() + "-" + next() + "-" + label;
    run(List.of("ip", "netns", "add", name), "");
    return new NetworkNamespace(name);
  }

  private static synchronized int next() {
    return ++created;
  }

  /** Skips the test, or the class, if no namespace can be created, and prints the reason. */
  public static void assumeAvailable() {
    String refusal = "";
    try (NetworkNamespace tried = create("try")) {
      tried.ip("link add e0 type veth peer name e1");
      tried.call(() -> null);
    } catch (RuntimeException failed) {
      refusal = "no network namespace can be created here: " + failed.getMessage();
    }
    skipWhere(refusal);
  }

  /** Skips the test, or the class, if there is a reason, and prints the reason. */
  public static void skipWhere(String reason) {
    if (!reason.isEmpty()) {
      System.out.println("skipped: " + reason);
      Assumptions.abort(reason);
    }
  }

  public String name() {
    return name;
  }

  /** Runs lines of {@code ip -batch} in the namespace. */
  public void ip(String... lines) {
    run(List.of("ip", "-n", name, "-batch", "-"), String.join("\n", lines) + "\n");
  }

  /** Runs a command in the namespace and returns its output. */
  public String exec(String... command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name));
    whole.addAll(List.of(command));
    return run(whole, "");
  }

  /** Runs a task on a new thread in the namespace, and waits for it. */
  public <T> T call(Callable<T> task) {
    FutureTask<T> future = new FutureTask<>(inside(task));
    Thread thread = Thread.ofPlatform().name(name).daemon().start(future);
    try {
      return future.get();
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case RuntimeException unchecked -> throw unchecked;
        case Error error -> throw error;
        default -> throw new IllegalStateException(failed.getCause());
      }
    } catch (InterruptedException interrupted) {
      thread.interrupt();
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  /**
   * Returns a task that enters the namespace and then runs the given one. It needs a platform
   * thread of its own, since the thread stays in the namespace.
   */
  public <T> Callable<T> inside(Callable<T> task) {
    return () -> {
      enter(name);
      return task.call();
    };
  }

  /**
   * Moves the calling thread to a namespace. Sockets that it opens later belong to the namespace.
   *
   * @param name name in {@code ip netns}
   */
  public static void enter(String name) {
    io.heddle.platform.NetworkNamespace.enter(name);
  }

  private static String run(List<String> command, String input) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      }
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command + ": " + output.strip());
      }
      return output;
    } catch (IOException missing) {
      throw new IllegalStateException(command + ": " + missing.getMessage(), missing);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  private void remove() {
    run(List.of("ip", "netns", "del", name), "");
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(atExit);
    remove();
  }
}
