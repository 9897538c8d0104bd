package io.heddle.platform;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runner of short system commands. */
public final class Shell {
  private static final long LIMIT_SECONDS = 30;

  private Shell() {}

  /**
   * Runs a command; returns its standard output.
   *
   * @throws HeddleException if the command can't be started, fails, or doesn't end within 30 s
   */
  public static String run(List<String> command) {
    return run(command, "");
  }

  /** Runs a command with this standard input; returns its standard output. */
  public static String run(List<String> command, String input) {
    return finish(start(command), command, input);
  }

  private static String finish(Process process, List<String> command, String input) {
    try {
      try (var stdin = process.getOutputStream()) {
        stdin.write(input.getBytes(StandardCharsets.UTF_8));
      } catch (IOException endedWithoutReading) {
        /* The command ended without reading its input. Its exit code and output show why. */
      }
      String output = text(process.getInputStream());
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        throw new HeddleException(name(command) + " didn't end within " + LIMIT_SECONDS + " s");
      }
      if (process.exitValue() != 0) {
        throw new HeddleException(name(command) + ": " + firstLine(output, process.exitValue()));
      }
      return output;
    } catch (IOException failed) {
      throw new HeddleException(name(command) + ": " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException(name(command) + " was interrupted", interrupted);
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * Starts a command, which then waits for its standard input. The returned task sends the input
   * and waits until the command ends. So the task's run doesn't include the delay of starting a
   * process.
   */
  public static Runnable prepare(List<String> command, String input) {
    Process process = start(command);
    return () -> finish(process, command, input);
  }

  private static Process start(List<String> command) {
    try {
      /*
       * Standard output and error are one stream: these commands print either a result or an error.
       */
      return new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException missing) {
      throw new HeddleException(
          command.getFirst() + " could not be started: " + missing.getMessage(), missing);
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

  /** Returns whether a process with this number is alive. */
  public static boolean isAlive(long pid) {
    return Files.exists(Path.of("/proc", Long.toString(pid)));
  }
}
