package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.cli.kit.OwnCommandLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runner of {@code heddle} commands in separate processes, to their end. */
public final class HeddleRun {
  private static final long LIMIT_SECONDS = 90;

  /** Exit code of a command, and the output of both its streams. */
  record Result(int exitCode, String text) {}

  private HeddleRun() {}

  /** Returns the command line of a {@code heddle} command. */
  public static List<String> command(String... arguments) {
    List<String> command = new ArrayList<>(OwnCommandLine.asStarted());
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * Returns the standard output of a successful command. Its standard error goes to the test's own.
   */
  static String output(String... arguments) throws IOException, InterruptedException {
    Path said = Files.createTempFile("heddle-said", null);
    Process process =
        new ProcessBuilder(command(arguments))
            .redirectOutput(said.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      int exitCode = process.waitFor();
      String output = Files.readString(said);
      assertEquals(0, exitCode, String.join(" ", arguments) + " said: " + output);
      return output;
    } finally {
      process.destroy();
      Files.delete(said);
    }
  }

  static Result run(String... arguments) throws IOException, InterruptedException {
    Path log = Files.createTempFile("heddle-said", null);
    try (HostProcess process = HostProcess.start(command(arguments), log, Map.of())) {
      int exitCode = process.exitCode(LIMIT_SECONDS);
      return new Result(exitCode, process.output());
    } finally {
      Files.delete(log);
    }
  }

  static JsonNode json(String... arguments) throws IOException, InterruptedException {
    return new ObjectMapper().readTree(output(arguments));
  }
}
