package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runner of a class with a main method in a separate JVM, for tests. */
public final class SeparateJvm {
  private static final long USUAL_LIMIT_SECONDS = 120;

  /** Exit status and output of the JVM. */
  public record End(int status, String output) {}

  private SeparateJvm() {}

  /**
   * Runs a class to its end, for at most 120 s.
   *
   * @param output file for the output
   * @param before command in front of java, such as prlimit with its arguments; may be empty
   * @param options options of java
   */
  static End run(
      Path output, List<String> before, List<String> options, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    return run(USUAL_LIMIT_SECONDS, output, before, options, program, arguments);
  }

  /**
   * Runs a class in a JVM until it ends. Fails if it takes longer than the limit, which is that of
   * a {@link Deadline}.
   */
  public static End run(
      long limitSeconds,
      Path output,
      List<String> before,
      List<String> options,
      Class<?> program,
      String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    Process run =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    boolean ended;
    try {
      ended = Deadline.ofSeconds(limitSeconds).awaitExit(run);
    } finally {
      run.destroyForcibly();
    }
    String printed = Files.readString(output);
    assertTrue(ended, () -> "no end within " + limitSeconds + " s: " + printed);
    return new End(run.exitValue(), printed);
  }
}
