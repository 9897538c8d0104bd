package io.heddle.tools.wan.host;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Runner of short system commands, which waits for each command's end. */
public final class Commands {
  private Commands() {}

  /**
   * Runs a command and returns its output.
   *
   * @param folder working directory of the command
   * @throws HeddleException if the command can't be run or fails, with its output
   */
  public static String run(Path folder, List<String> command, String input) {
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException endedWithoutReading) {
        /* The command didn't read its input. Its exit code and output contain the reason. */
      }
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new HeddleException(String.join(" ", command) + ": " + said.strip());
      }
      return said;
    } catch (IOException missing) {
      throw new HeddleException(
          command.getFirst() + " can't be run: " + missing.getMessage(), missing);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException(command.getFirst() + " was interrupted", interrupted);
    }
  }

  /** Runs a command in this process's working directory, without input, and returns its output. */
  public static String run(List<String> command) {
    return run(Path.of("."), command, "");
  }
}
