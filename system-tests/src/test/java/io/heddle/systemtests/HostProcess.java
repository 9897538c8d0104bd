package io.heddle.systemtests;

import io.heddle.platform.testing.Deadline;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Process on a lab's host, with both output streams in one file. It ends when the tests end, even
 * if they are killed.
 */
public final class HostProcess implements AutoCloseable {
  /*
   * Thread that starts all processes. The kernel kills each process when its starting thread ends,
   * so this thread lives as long as the tests.
   */
  private static final ExecutorService STARTER =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("starter").factory());

  private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

  private final Process process;
  private final Path log;

  private HostProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  public static HostProcess start(
      Lab lab, int rank, Path log, Map<String, String> environment, List<String> command)
      throws IOException {
    Map<String, String> all = new HashMap<>(lab.environment(rank));
    all.putAll(environment);
    return start(lab.command(rank, command), log, all);
  }

  /** Starts a command. The command itself must enter its host's namespace. */
  static HostProcess start(List<String> command, Path log, Map<String, String> environment)
      throws IOException {
    List<String> mortal = new ArrayList<>();
    if (Files.isExecutable(SETPRIV)) {
      mortal.addAll(List.of(SETPRIV.toString(), "--pdeathsig", "KILL"));
    }
    /* The tests' parent process may ignore SIGHUP (nohup), and a daemon would inherit that. */
    mortal.addAll(List.of("/usr/bin/env", "--default-signal=HUP"));
    mortal.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(mortal).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    Process process = started(builder);
    process.getOutputStream().close();
    return new HostProcess(process, log);
  }

  private static Process started(ProcessBuilder builder) throws IOException {
    Future<Process> start = STARTER.submit(builder::start);
    try {
      return start.get();
    } catch (ExecutionException failed) {
      throw new IOException(builder.command() + " can't be started", failed.getCause());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted before " + builder.command() + " started", interrupted);
    }
  }

  /** Returns the command line of a Java program from the tests' class path. */
  public static List<String> java(Class<?> mainClass, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * Returns the command line of a rank of the all-reduce through the plugin.
   *
   * @param meeting folder of the ranks' rendezvous
   * @param more further options of the all-reduce
   */
  static List<String> allReduce(Path meeting, int rank, int ranks, String... more) {
    List<String> command = new ArrayList<>(List.of(BuildOutputs.allReduce().toString()));
    command.addAll(List.of("--plugin", BuildOutputs.plugin().toString()));
    command.addAll(List.of("--rendezvous", meeting.toString()));
    command.addAll(List.of("--rank", Integer.toString(rank), "--ranks", Integer.toString(ranks)));
    command.addAll(List.of(more));
    return command;
  }

  /** Returns the command of an endless all-reduce with messages of one size. */
  static List<String> endlessAllReduce(Path meeting, int rank, int ranks, long bytes) {
    String size = Long.toString(bytes);
    return allReduce(
        meeting,
        rank,
        ranks,
        "--min-bytes",
        size,
        "--max-bytes",
        size,
        "--iterations",
        "1000000",
        "--warmup",
        "1");
  }

  /**
   * Waits for the process to end and returns its exit code. If the limit passes, the test fails
   * with the process's output.
   */
  public int exitCode(long limitSeconds) throws IOException, InterruptedException {
    if (!Deadline.ofSeconds(limitSeconds).awaitExit(process)) {
      throw new AssertionError("still running after " + limitSeconds + " s; it said:\n" + output());
    }
    return process.exitValue();
  }

  /** Returns the exit status; empty while the process runs. */
  public OptionalInt exitCode() {
    return process.isAlive() ? OptionalInt.empty() : OptionalInt.of(process.exitValue());
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /* Returns the command's pid: `ip netns exec` replaces itself by the command. */
  long pid() {
    return process.pid();
  }

  void kill() {
    process.destroyForcibly();
  }

  public String output() throws IOException {
    return Files.readString(log, java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  /**
   * Returns the process's output for an assertion's message, or the reason why it can't be read.
   */
  public String outputOrWhyNot() {
    try {
      return output();
    } catch (IOException unreadable) {
      return unreadable.toString();
    }
  }

  /** Waits until the process has printed these words. */
  public void awaitOutput(String text, long limitSeconds) throws IOException, InterruptedException {
    if (!Deadline.ofSeconds(limitSeconds).awaitOutput(text, this::output, () -> !isAlive())) {
      throw new AssertionError(
          "\"" + text + "\" didn't come within " + limitSeconds + " s; it said:\n" + output());
    }
  }

  @Override
  public void close() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor(10, TimeUnit.SECONDS);
  }
}
