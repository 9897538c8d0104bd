package io.heddle.cli.wan.host;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Short commands of the system, run to their end. */
public final class Commands {
  private Commands() {}

  /**
   * What it prints.
   *
   * @param folder null for this process's own
   * @throws HeddleException where it fails, with its words
   */
  public static String run(Path folder, List<String> command, String input) {
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException endedWithoutReading) {
        /* Its exit code and words say why. */
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

  /** The same in this process's own folder, with nothing to read. */
  public static String run(List<String> command) {
    return run(Path.of("."), command, "");
  }
}
