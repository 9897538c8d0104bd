package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A class of a test that runs in a Java machine of its own. */
public final class SeparateJvm {
  private static final long USUAL_LIMIT_SECONDS = 120;

  /** How it ended, and what it printed. */
  public record End(int status, String printed) {}

  private SeparateJvm() {}

  /**
   * Runs one to its end, for 120 s at most.
   *
   * @param output a file that takes what it prints
   * @param before a command that runs Java, with its words; empty for none
   * @param options Java's
   */
  static End run(
      Path output, List<String> before, List<String> options, Class<?> program, String... arguments)
      throws IOException, InterruptedException {
    return run(USUAL_LIMIT_SECONDS, output, before, options, program, arguments);
  }

  /** As the other, for this many seconds of an idle machine at most. */
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
      ended = Patience.ofSeconds(limitSeconds).outlasts(run);
    } finally {
      run.destroyForcibly();
    }
    String printed = Files.readString(output);
    assertTrue(ended, () -> "no end within " + limitSeconds + " s: " + printed);
    return new End(run.exitValue(), printed);
  }
}
