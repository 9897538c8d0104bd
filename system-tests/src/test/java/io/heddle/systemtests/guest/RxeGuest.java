package io.heddle.systemtests.guest;

import io.heddle.platform.testing.Deadline;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Running guest: an emulated machine that runs one bash script, with the output of both streams and
 * the exit status.
 */
final class RxeGuest implements AutoCloseable {
  static final Path ROOT = Path.of("").toAbsolutePath().getParent();
  static final int TIME_IS_UP = 124;
  static final int DIED = 125;

  private static final Path SCRIPTS = ROOT.resolve("system-tests/guest");
  private static final Path CACHE = ROOT.resolve(".build/guest");
  private static final int NO_GUEST_HERE = 77;
  private static final int MAKE_LIMIT_SECONDS = 300;

  /** Time in which a guest must end after its time limit. */
  private static final int GRACE_SECONDS = 30;

  private static @Nullable String refusal;

  private final Process process;
  private final Path log;
  private final int limitSeconds;

  /* Shutdown hook that ends the guest if the tests are interrupted. */
  private final Thread hook;

  private RxeGuest(Process process, Path log, int limitSeconds) {
    this.process = process;
    this.log = log;
    this.limitSeconds = limitSeconds;
    hook = new Thread(process::destroy, "guest's end");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** Exit code and output of a guest. */
  record Ended(int exitCode, String output) {}

  /** Skips the test if this machine can't run a guest, and prints the reason. */
  static synchronized void assume() throws IOException, InterruptedException {
    if (refusal == null) {
      Process make =
          new ProcessBuilder(SCRIPTS.resolve("make.sh").toString(), CACHE.toString())
              .redirectErrorStream(true)
              .start();
      make.getOutputStream().close();
      String said = new String(make.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!Deadline.ofSeconds(MAKE_LIMIT_SECONDS).awaitExit(make)) {
        make.destroyForcibly();
        throw new AssertionError("make.sh runs for more than " + MAKE_LIMIT_SECONDS + " s");
      }
      if (make.exitValue() != 0 && make.exitValue() != NO_GUEST_HERE) {
        throw new AssertionError("make.sh failed with " + make.exitValue() + ":\n" + said);
      }
      refusal = make.exitValue() == 0 ? "" : said.strip();
    }
    if (!refusal.isEmpty()) {
      Skip.because(refusal);
    }
  }

  /**
   * Skips the test if one of these programs isn't installed. The guest uses the host's programs.
   */
  static void assumePrograms(String... programs) {
    for (String program : programs) {
      boolean found =
          Stream.of("/usr/bin", "/usr/sbin", "/usr/local/bin")
              .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
      if (!found) {
        Skip.because(program + " isn't installed");
      }
    }
  }

  /**
   * Returns the command line with which the guest runs a Java program from the tests' class path.
   * It selects the compiler C1 and the serial collector: with others, an emulated JVM has crashed
   * in code that it had just patched.
   *
   * @param options options of the JVM
   */
  static String java(List<String> options, Class<?> program, String... arguments) {
    List<String> words =
        new ArrayList<>(List.of("\"$HEDDLE_JAVA_HOME/bin/java\"", "-XX:TieredStopAtLevel=1"));
    words.addAll(List.of("-XX:+UseSerialGC", "-Xmx512m", "--enable-native-access=ALL-UNNAMED"));
    words.addAll(options);
    words.addAll(List.of("-cp", "'" + System.getProperty("java.class.path") + "'"));
    words.add(program.getName());
    words.addAll(List.of(arguments));
    return String.join(" ", words);
  }

  /**
   * Starts a guest.
   *
   * @param folder folder for the guest's output and temporary files
   * @param script script for {@code bash -eu}, which can use the functions of {@code topology.sh}
   */
  static RxeGuest start(GuestPlan plan, Path folder, String script)
      throws IOException, InterruptedException {
    assume();
    List<String> command = new ArrayList<>(plan.outside());
    command.add(SCRIPTS.resolve("run.sh").toString());
    command.addAll(plan.options());
    command.addAll(List.of("-t", Integer.toString(plan.limitSeconds())));
    command.addAll(List.of("--", "bash", "-euc", script));
    Path log = Files.createTempFile(folder, "guest", ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().put("TMPDIR", folder.toString());
    builder.environment().put("HEDDLE_JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    process.getOutputStream().close();
    return new RxeGuest(process, log, plan.limitSeconds());
  }

  /** Starts a guest and waits for its end. */
  static Ended run(GuestPlan plan, Path folder, String script)
      throws IOException, InterruptedException {
    try (RxeGuest guest = start(plan, folder, script)) {
      return guest.awaitEnd();
    }
  }

  Ended awaitEnd() throws IOException, InterruptedException {
    if (!Deadline.ofSeconds(limitSeconds + GRACE_SECONDS).awaitExit(process)) {
      throw new AssertionError("the guest outlives its time limit; it said:\n" + output());
    }
    return new Ended(process.exitValue(), output());
  }

  boolean isRunning() {
    return process.isAlive();
  }

  String output() throws IOException {
    return Files.readString(log, StandardCharsets.ISO_8859_1);
  }

  /** Waits until the guest has printed this text. */
  void awaitOutput(String text) throws IOException, InterruptedException {
    if (!Deadline.ofSeconds(limitSeconds)
        .awaitOutput(text, this::output, () -> !process.isAlive())) {
      throw new AssertionError("\"" + text + "\" didn't come; the guest said:\n" + output());
    }
  }

  /* Sends SIGTERM, so that run.sh can remove its files. QEMU ends with it. */
  @Override
  public void close() throws InterruptedException {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException shuttingDown) {
      /* The JVM is shutting down, and the shutdown hook ends the guest. */
    }
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      process.waitFor(10, TimeUnit.SECONDS);
    }
  }
}
