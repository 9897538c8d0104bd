package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.Deadline;
import io.heddle.tools.lab.Fabric;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Process of {@code heddle bgp run} on a host of a fabric, and requests to it, as {@code heddle bgp
 * show} sends them.
 */
final class RouteDaemonProcess implements AutoCloseable {
  private static final long LIMIT_SECONDS = 90;

  private final Path folder;
  private final Process process;

  private RouteDaemonProcess(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  /**
   * Starts a daemon that sees only the jobs whose statistics are in the test's folder, not the
   * machine's other jobs.
   *
   * @param peers peers' sections of the configuration
   */
  static RouteDaemonProcess start(Fabric fabric, int host, Path folder, String peers)
      throws IOException {
    Path jobs = Files.createDirectories(folder.resolve("jobs"));
    return start(
        fabric.onHost(host, List.of()),
        folder,
        configuration(host, peers),
        "--stats",
        jobs.toString());
  }

  /**
   * Starts a daemon.
   *
   * @param wrapper words in front of the command, which enter the host's namespace
   * @param configuration text of the configuration; the paths of the routes file and the control
   *     socket are added
   */
  static RouteDaemonProcess start(
      List<String> wrapper, Path folder, String configuration, String... options)
      throws IOException {
    return start(wrapper, HeddleRun.command(), folder, configuration, options);
  }

  /**
   * Starts the daemon from the built jar, for a daemon that may not read the tests' class folder.
   */
  static RouteDaemonProcess startBuilt(List<String> wrapper, Path folder, String configuration)
      throws IOException {
    List<String> heddle =
        List.of(
            "sh",
            BuildOutputs.START.toString(),
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            BuildOutputs.tools().toString());
    return start(wrapper, heddle, folder, configuration);
  }

  private static RouteDaemonProcess start(
      List<String> wrapper,
      List<String> heddle,
      Path folder,
      String configuration,
      String... options)
      throws IOException {
    Files.createDirectories(folder);
    configure(folder, configuration);
    /* The test's parent process may ignore SIGHUP (nohup), and the daemon would inherit that. */
    List<String> command = new ArrayList<>(List.of("env", "--default-signal=HUP"));
    command.addAll(wrapper);
    command.addAll(heddle);
    command.addAll(List.of("bgp", "run", "--config", folder.resolve("bgp.conf").toString()));
    command.addAll(List.of(options));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    return new RouteDaemonProcess(folder, process);
  }

  private static String configuration(int host, String peers) {
    return "as = %s\npublish-after-ms = 20000\n%s".formatted(65_000 + host, peers);
  }

  private static void configure(Path folder, String text) throws IOException {
    String publish =
        text.contains("publish = ") ? "" : "publish = " + folder.resolve("routes") + "\n";
    Files.writeString(
        folder.resolve("bgp.conf"), publish + "control = " + folder.resolve("sock") + "\n" + text);
  }

  /** Writes another configuration and sends SIGHUP to the daemon. */
  void reload(int host, String peers) throws IOException, InterruptedException {
    configure(folder, configuration(host, peers));
    assertEquals(0, new ProcessBuilder("kill", "-HUP", Long.toString(pid())).start().waitFor());
  }

  long pid() {
    return process.pid();
  }

  Path routes() {
    return folder.resolve("routes");
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("log"));
  }

  /* Sends a request over the control socket, without another JVM. */
  private JsonNode request(String... question) throws IOException, InterruptedException {
    String line =
        switch (question[0]) {
          case "neighbours" -> "daemon";
          case "routes" -> "routes * 1000";
          default -> String.join(" ", question);
        };
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket()))) {
      channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
      channel.shutdownOutput();
      return new ObjectMapper().readTree(Channels.newInputStream(channel));
    }
  }

  /*
   * Waits until the daemon logs that its control socket is open, and returns the socket's path. BGP
   * sessions may be established earlier.
   */
  private Path socket() throws IOException, InterruptedException {
    awaitLog("control socket at ");
    return folder.resolve("sock");
  }

  /** Returns the JSON document of {@code heddle bgp show}. */
  JsonNode show(String... question) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("bgp", "show"));
    arguments.addAll(List.of(question));
    arguments.addAll(List.of("--json", "--control", socket().toString()));
    return HeddleRun.json(arguments.toArray(String[]::new));
  }

  /** Returns the error message of a {@code heddle bgp show} that the daemon rejects. */
  String refusal(String... question) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("bgp", "show"));
    arguments.addAll(List.of(question));
    arguments.addAll(List.of("--control", socket().toString()));
    HeddleRun.Result said = HeddleRun.run(arguments.toArray(String[]::new));
    assertEquals(1, said.exitCode(), said.text());
    return said.text();
  }

  /** Returns the text output of {@code heddle bgp show}. */
  String text(String... question) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("bgp", "show"));
    arguments.addAll(List.of(question));
    arguments.addAll(List.of("--control", socket().toString()));
    return HeddleRun.output(arguments.toArray(String[]::new));
  }

  /** Repeats the request until the answer is as expected, and returns it. */
  JsonNode await(String what, Predicate<JsonNode> expected, String... question)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (true) {
      JsonNode answer = request(question);
      if (expected.test(answer)) {
        return answer;
      }
      if (deadline.isOver()) {
        throw new AssertionError("no " + what + " in " + answer + "\n" + log());
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  void awaitLog(String text) throws IOException, InterruptedException {
    if (!Deadline.ofSeconds(LIMIT_SECONDS).awaitOutput(text, this::log, () -> !process.isAlive())) {
      throw new AssertionError("\"" + text + "\" didn't come; it said:\n" + log());
    }
  }

  /** Sends SIGTERM to the daemon and returns its exit code. */
  int terminate() throws InterruptedException {
    process.destroy();
    return exitCode();
  }

  /** Waits for the daemon's end and returns its exit code. */
  int exitCode() throws InterruptedException {
    if (!Deadline.ofSeconds(LIMIT_SECONDS).awaitExit(process)) {
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
