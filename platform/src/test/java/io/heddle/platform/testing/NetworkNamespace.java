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
 * A network namespace of a test's own, and threads of this very process that live in it (setns(2)):
 * sockets that they open and files of /proc/sys/net that they write are the namespace's. Removed
 * when it is closed.
 */
public final class NetworkNamespace implements AutoCloseable {
  private static int created;

  private final String name;
  /* For tests that are interrupted. */
  private final Thread atExit;

  private NetworkNamespace(String name) {
    this.name = name;
    atExit = new Thread(this::remove, "remove-" + name);
    Runtime.getRuntime().addShutdownHook(atExit);
  }

  /**
   * @param label the end of its name
   */
  public static NetworkNamespace create(String label) {
    String name = "hdt-" + ProcessHandle.current().pid() + "-" + next() + "-" + label;
    run(List.of("ip", "netns", "add", name), "");
    return new NetworkNamespace(name);
  }

  private static synchronized int next() {
    return ++created;
  }

  /** Skips the test, or all of the class, where no namespace can be made; prints why. */
  public static void assumeAvailable() {
    String refusal = "";
    try (NetworkNamespace tried = create("try")) {
      tried.ip("link add e0 type veth peer name e1");
      tried.call(() -> null);
    } catch (RuntimeException failed) {
      refusal = "no network namespace can be made here: " + failed.getMessage();
    }
    skipWhere(refusal);
  }

  /** Skips the test, or all of the class, where there is a reason; prints it. */
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

  /** Runs a command in the namespace and returns what it says. */
  public String exec(String... command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", name));
    whole.addAll(List.of(command));
    return run(whole, "");
  }

  /** Runs on a new thread that lives in the namespace, and waits for its end. */
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

  /** The task, to be run on a platform thread of its own, which stays in the namespace. */
  public <T> Callable<T> inside(Callable<T> task) {
    return () -> {
      enter(name);
      return task.call();
    };
  }

  /**
   * Takes the calling thread into a namespace: sockets that it opens from then on are there.
   *
   * @param name by which {@code ip netns} knows it
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
