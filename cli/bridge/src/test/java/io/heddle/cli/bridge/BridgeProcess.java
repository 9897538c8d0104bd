package io.heddle.cli.bridge;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;

/** {@code heddle bridge} in a process of its own, which can be killed. */
final class BridgeProcess implements AutoCloseable {
  private final Process process;

  private BridgeProcess(Process process) {
    this.process = process;
  }

  /** The process's program. */
  public static void main(String[] arguments) {
    CommandLine bridge = new CommandLine(new BridgeCommand());
    System.exit(bridge.execute(Arrays.copyOfRange(arguments, 1, arguments.length)));
  }

  /** A command line that takes {@code bridge} and what follows, as the heddle program does. */
  static List<String> program() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        BridgeProcess.class.getName());
  }

  static BridgeProcess start(TwoFabrics fabrics, int host, Path config) throws IOException {
    List<String> command = new ArrayList<>(program());
    command.addAll(List.of("bridge", "run", "--config", config.toString()));
    return new BridgeProcess(
        new ProcessBuilder(fabrics.command(host, command)).inheritIO().start());
  }

  /** SIGKILL, and waits for its end. */
  void kill() throws InterruptedException {
    process.toHandle().destroyForcibly();
    process.waitFor();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
