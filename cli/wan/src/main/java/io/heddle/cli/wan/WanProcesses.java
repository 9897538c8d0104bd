package io.heddle.cli.wan;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The demo's daemons, each in its node's namespace with a log of its own. */
final class WanProcesses implements AutoCloseable {
  private static final long END_SECONDS = 10;

  /** A daemon that should run doesn't. */
  static final class Ended extends HeddleException {
    private static final long serialVersionUID = 1;

    Ended(String sentence) {
      super(sentence);
    }
  }

  private final Path folder;
  private final WanNodes nodes;
  private final Map<String, Process> running = new LinkedHashMap<>();
  private boolean closed;

  WanProcesses(Path folder, WanNodes nodes) {
    this.folder = folder;
    this.nodes = nodes;
  }

  /** Runs {@code heddle PRODUCT run} with the node's configuration. */
  void heddle(String node, String product) {
    start(
        node,
        node,
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-Xmx128m",
            "-cp",
            System.getProperty("java.class.path"),
            WanProgram.class.getName(),
            product,
            "run",
            "--config",
            folder.resolve(node + ".conf").toString()));
  }

  /* Synchronized with close, which an interrupt may call in the middle. */
  synchronized void start(String name, String node, List<String> command) {
    if (closed) {
      throw new HeddleException("the demo was ended before " + name + " was started");
    }
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", nodes.namespace(node)));
    whole.addAll(command);
    try {
      running.put(
          name,
          new ProcessBuilder(whole)
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

  /** What a process has said, for failures. */
  String said(String name) {
    try {
      return Files.readString(log(name));
    } catch (IOException nothing) {
      return "";
    }
  }

  /**
   * @throws Ended with its words where one has ended
   */
  synchronized void check() {
    running.forEach((name, process) -> {
      if (!process.isAlive()) {
        throw new Ended(
            "%s has ended with %s: %s".formatted(name, process.exitValue(), said(name).strip()));
      }
    });
  }

  /** Kills a process (SIGKILL); it can clean up nothing. */
  synchronized void kill(String name) {
    Process process = running.remove(name);
    if (process != null) {
      process.destroyForcibly();
      await(process);
    }
  }

  /** Asks a process to end (SIGTERM). */
  synchronized void end(String name) {
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
    running.values().forEach(WanProcesses::await);
    running.clear();
  }
}
