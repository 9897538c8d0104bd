package io.heddle.cli.lab;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Short commands of the system, run to their end. */
public final class Shell {
  private static final long LIMIT_SECONDS = 30;

  private Shell() {}

  /**
   * Standard output of a command.
   *
   * @throws LabException when it can't be started, fails, or doesn't end; the message has what it
   *     said
   */
  static String run(List<String> command) {
    return run(command, "");
  }

  /** The same with standard input. */
  public static String run(List<String> command, String input) {
    return finish(start(command), command, input);
  }

  private static String finish(Process process, List<String> command, String input) {
    try {
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException endedWithoutReading) {
        /* Its exit code and words say why. */
      }
      String output = text(process.getInputStream());
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new LabException(name(command) + " didn't end within " + LIMIT_SECONDS + " s");
      }
      if (process.exitValue() != 0) {
        throw new LabException(name(command) + ": " + firstLine(output, process.exitValue()));
      }
      return output;
    } catch (IOException failed) {
      throw new LabException(name(command) + ": " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new LabException(name(command) + " was interrupted", interrupted);
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * A command that is started now and does nothing before it has read its standard input: running
   * this gives it that, without the time that a start takes, and waits for its end.
   */
  static Runnable ready(List<String> command, String input) {
    Process process = start(command);
    return () -> finish(process, command, input);
  }

  private static Process start(List<String> command) {
    try {
      /* Error output in the same stream: these commands say either what was asked or what went wrong. */
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException missing) {
      throw new LabException(
          command.getFirst() + " can't be started: " + missing.getMessage(), missing);
    }
  }

  private static String text(InputStream stream) throws IOException {
    return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
  }

  private static String name(List<String> command) {
    return String.join(" ", command.subList(0, Math.min(4, command.size())));
  }

  private static String firstLine(String output, int exitCode) {
    return output.lines().findFirst().orElse("exit code " + exitCode);
  }

  /** Whether a process with this number is alive. */
  static boolean isAlive(long pid) {
    return Files.exists(Path.of("/proc", Long.toString(pid)));
  }
}
