package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.tools.HeddleCommand;
import io.heddle.tools.lab.Fabric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** {@code heddle bgp run} on a host of a fabric, and {@code heddle bgp show} beside it. */
final class RouteDaemonProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 30;

  private final Path folder;
  private final Process process;

  private RouteDaemonProcess(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  /**
   * @param peers sections of the configuration
   */
  static RouteDaemonProcess start(Fabric fabric, int host, Path folder, String peers)
      throws IOException {
    Files.createDirectories(folder);
    Path config = configure(host, folder, peers);
    List<String> command = heddle("bgp", "run", "--config", config.toString());
    Process process =
        new ProcessBuilder(fabric.onHost(host, command))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    return new RouteDaemonProcess(folder, process);
  }

  private static Path configure(int host, Path folder, String peers) throws IOException {
    return Files.writeString(
        folder.resolve("bgp.conf"),
        "as = %d\npublish = %s\ncontrol = %s\npublish-after-ms = 20000\n%s"
            .formatted(65_000 + host, folder.resolve("routes"), folder.resolve("sock"), peers));
  }

  /** Gives it another configuration and SIGHUP. */
  void reload(int host, String peers) throws IOException, InterruptedException {
    configure(host, folder, peers);
    assertEquals(
        0, new ProcessBuilder("kill", "-HUP", Long.toString(process.pid())).start().waitFor());
  }

  private static List<String> heddle(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-cp",
            System.getProperty("java.class.path"),
            HeddleCommand.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  Path routes() {
    return folder.resolve("routes");
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("log"));
  }

  JsonNode show(String... question) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("bgp", "show"));
    arguments.addAll(List.of(question));
    arguments.addAll(List.of("--json", "--control", folder.resolve("sock").toString()));
    return json(arguments.toArray(String[]::new));
  }

  /** What a heddle command prints as JSON. */
  static JsonNode json(String... arguments) throws IOException, InterruptedException {
    Process show = new ProcessBuilder(heddle(arguments)).start();
    String answer = new String(show.getInputStream().readAllBytes());
    String error = new String(show.getErrorStream().readAllBytes());
    if (show.waitFor() != 0) {
      throw new AssertionError(error);
    }
    return new ObjectMapper().readTree(answer);
  }

  /** Asks until the answer is as expected; returns it. */
  JsonNode await(String what, Predicate<JsonNode> expected, String... question)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (true) {
      JsonNode answer = show(question);
      if (expected.test(answer)) {
        return answer;
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError("no " + what + " in " + answer.toPrettyString() + "\n" + log());
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  void awaitLog(String text) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!log().contains(text)) {
      if (System.nanoTime() > deadline || !process.isAlive()) {
        throw new AssertionError("\"" + text + "\" didn't come; it said:\n" + log());
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** SIGTERM; returns the exit code. */
  int terminate() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("it didn't end");
    }
    return process.exitValue();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() throws InterruptedException {
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
  }
}
