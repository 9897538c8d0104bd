package io.heddle.verbs.testing;

import io.heddle.platform.testing.Deadline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Runner of jcstress tests of the class path, in a separate process and with a time limit. The
 * module must have jcstress-core on its test class path and its annotation processor enabled.
 */
public final class JcstressRun {
  private static final int TIME_LIMIT_SECONDS = 180;

  private static final boolean WHOLE_RUN = Boolean.getBoolean("heddle.test.whole");

  /*
   * Options that limit the runs: one set of JVM arguments, and the same compilation mode for all of
   * a test's methods. With {@code heddle.test.whole}, samples are longer, and are repeated with a
   * compiler that makes random choices.
   */
  private static final List<String> BOUNDS =
      List.of(
          "-m",
          "quick",
          "-f",
          "1",
          "-fsm",
          WHOLE_RUN ? "1" : "0",
          "-time",
          WHOLE_RUN ? "500" : "200",
          "-iters",
          WHOLE_RUN ? "3" : "2",
          "-sc",
          "false",
          "-jvmArgs",
          "-Xmx512m");

  private JcstressRun() {}

  /**
   * Runs the tests that are members of a class.
   *
   * @throws AssertionError with the output of jcstress, if a forbidden outcome was seen, a test did
   *     not run, or time ran out
   */
  public static void allOf(Class<?> tests) {
    Path folder = null;
    try {
      folder = Files.createTempDirectory("heddle-jcstress");
      run(tests, folder);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while jcstress ran", interrupted);
    } finally {
      if (folder != null) {
        delete(folder);
      }
    }
  }

  private static void run(Class<?> tests, Path folder) throws IOException, InterruptedException {
    Path output = folder.resolve("output.txt");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            "org.openjdk.jcstress.Main",
            "-t",
            tests.getName().replace(".", "\\.") + "\\..*",
            "-r",
            folder.toString());
    builder.command().addAll(BOUNDS);
    /*
     * jcstress probes twenty JVM configurations, each of which touches its whole heap; the probes
     * took longer than the tests. The JVM applies these options after those of jcstress, so they
     * take effect.
     */
    builder.environment().put("_JAVA_OPTIONS", "-XX:-AlwaysPreTouch -XX:+UseSerialGC");
    /* jcstress writes its binary result to the working directory. */
    builder.directory(folder.toFile()).redirectErrorStream(true).redirectOutput(output.toFile());
    Process process = builder.start();
    boolean inTime = Deadline.ofSeconds(TIME_LIMIT_SECONDS).awaitExit(process);
    if (!inTime) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    String printed = Files.readString(output);
    int expected = tests.getClasses().length;
    if (!inTime
        || process.exitValue() != 0
        || !printed.contains(expected + " matching test results")) {
      throw new AssertionError(
          "jcstress did not see %s tests pass (%s):\n%s"
              .formatted(
                  expected,
                  inTime ? "it ended with " + process.exitValue() : "it did not end in time",
                  printed));
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
