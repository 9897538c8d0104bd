package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.tools.bridge.TwoFabrics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** {@code heddle bridge} in a process of its own, which can be killed. */
public final class BridgeProcess implements AutoCloseable {
  private final Process process;

  private BridgeProcess(Process process) {
    this.process = process;
  }

  /** Main method of the process. */
  public static void main(String[] arguments) {
    CommandLine bridge = new CommandLine(new BridgeCommand());
    System.exit(bridge.execute(Arrays.copyOfRange(arguments, 1, arguments.length)));
  }

  /**
   * Returns a command line that runs the {@code heddle} program. {@code bridge} and its arguments
   * are added to it.
   */
  public static List<String> program() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--enable-native-access=ALL-UNNAMED",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        BridgeProcess.class.getName());
  }

  public static BridgeProcess start(TwoFabrics fabrics, int host, Path config) throws IOException {
    return start(fabrics, host, config, Map.of());
  }

  /** Starts a bridge process with these environment variables. */
  public static BridgeProcess start(
      TwoFabrics fabrics, int host, Path config, Map<String, String> environment)
      throws IOException {
    /*
     * The test runner may ignore SIGHUP (as under nohup), and the bridge would inherit that. So the
     * default is restored.
     */
    List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP"));
    command.addAll(program());
    command.addAll(List.of("bridge", "run", "--config", config.toString()));
    ProcessBuilder builder = new ProcessBuilder(fabrics.command(host, command)).inheritIO();
    builder.environment().putAll(environment);
    return new BridgeProcess(builder.start());
  }

  /** Sends a signal to the process. */
  public void signal(String word) throws IOException, InterruptedException {
    String number = Long.toString(process.pid());
    assertEquals(0, new ProcessBuilder("kill", "-" + word, number).start().waitFor());
  }

  /** Waits for the end of the process and returns its exit code. */
  public int await() throws InterruptedException {
    return process.waitFor();
  }

  /** Kills the process with SIGKILL, and waits for its end. */
  public void kill() throws InterruptedException {
    process.toHandle().destroyForcibly();
    process.waitFor();
  }

  public boolean isAlive() {
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
