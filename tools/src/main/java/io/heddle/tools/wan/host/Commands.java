package io.heddle.tools.wan.host;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Short system commands, run to their end. */
public final class Commands {
  private Commands() {}

  /**
   * Runs a command and returns its output.
   *
   * @param folder null for this process's own
   * @throws HeddleException with its output if it fails
   */
  public static String run(Path folder, List<String> command, String input) {
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException endedWithoutReading) {
        /* Its exit code and output have the reason. */
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

  /** Runs a command in this process's own folder, without input. */
  public static String run(List<String> command) {
    return run(Path.of("."), command, "");
  }
}
