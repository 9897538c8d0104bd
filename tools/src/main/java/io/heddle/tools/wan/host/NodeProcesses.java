package io.heddle.tools.wan.host;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NetworkNamespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Daemons of a demo, each in its node's namespace with its own log. */
public final class NodeProcesses implements AutoCloseable {
  private static final long END_SECONDS = 10;
  private static final int LAST_LINES = 10;
  private static final List<String> SMALL = List.of("-XX:TieredStopAtLevel=1", "-Xmx128m");

  /** Exception: a daemon that should run has ended, or a condition can no longer become true. */
  public static final class Ended extends HeddleException {
    private static final long serialVersionUID = 1;

    public Ended(String sentence) {
      super(sentence);
    }
  }

  private final Path folder;
  private final Function<String, NetworkNamespace> namespaces;
  private final Map<String, Process> running = new LinkedHashMap<>();
  private boolean closed;

  /**
   * @param folder folder of configurations and logs
   * @param namespaces returns the namespace of a node, by its name
   */
  public NodeProcesses(Path folder, Function<String, NetworkNamespace> namespaces) {
    this.folder = folder;
    this.namespaces = namespaces;
  }

  /**
   * Starts {@code heddle PRODUCT run} with the node's configuration.
   *
   * @param words further arguments
   */
  public void heddle(String node, String product, String... words) {
    heddle(node, product, SMALL, words);
  }

  /**
   * Starts {@code heddle PRODUCT run} with the node's configuration and other Java options.
   *
   * @param javaOptions Java options of the daemon's process
   */
  public void heddle(String node, String product, List<String> javaOptions, String... words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(javaOptions);
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            WanProgram.class.getName(),
            product,
            "run",
            "--config",
            folder.resolve(node + ".conf").toString()));
    command.addAll(List.of(words));
    start(node, node, command);
  }

  /** Returns the process ID of a running process. */
  public synchronized long pid(String name) {
    Process process = running.get(name);
    if (process == null) {
      throw new Ended(name + " doesn't run");
    }
    return process.pid();
  }

  /**
   * Starts a command at a node. Synchronized with close, which an interrupt may call at any time.
   *
   * @param name name of the process in this object
   * @throws HeddleException if this object has been closed already, or the command can't be started
   */
  public synchronized void start(String name, String node, List<String> command) {
    if (closed) {
      throw new HeddleException("the demo was ended before " + name + " was started");
    }
    try {
      running.put(
          name,
          new ProcessBuilder(namespaces.apply(node).command(command))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log(name).toFile()))
              .start());
    } catch (IOException missing) {
      throw new HeddleException(name + " can't be started: " + missing.getMessage(), missing);
    }
  }

  private Path log(String name) {
    return folder.resolve(name + ".log");
  }

  /** Returns a process's last log lines, for error messages. */
  public String lastLogLines(String name) {
    try {
      List<String> lines = Files.readAllLines(log(name));
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    } catch (IOException nothing) {
      return "";
    }
  }

  /**
   * Checks that all processes run.
   *
   * @throws Ended if a process has ended, with its last log lines
   */
  public synchronized void check() {
    running.forEach((name, process) -> {
      if (!process.isAlive()) {
        throw new Ended(
            "%s has ended with %s: %s"
                .formatted(name, process.exitValue(), lastLogLines(name).strip()));
      }
    });
  }

  /** Kills a process with SIGKILL, so that it can't clean up. */
  public synchronized void kill(String name) {
    Process process = running.remove(name);
    if (process != null) {
      process.destroyForcibly();
      await(process);
    }
  }

  /** Ends a process with SIGTERM. */
  public synchronized void end(String name) {
    Process process = running.remove(name);
    if (process != null) {
      process.destroy();
      await(process);
    }
  }

  private static void await(Process process) {
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    running.values().forEach(Process::destroyForcibly);
    running.values().forEach(NodeProcesses::await);
    running.clear();
  }
}
