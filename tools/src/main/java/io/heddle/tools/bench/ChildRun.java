package io.heddle.tools.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.job.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runner of another heddle command in a child process. */
final class ChildRun {
  private static final long POLL_MS = 200;
  private static final long ORDERLY_END_SECONDS = 15;

  /**
   * Exit code of a command that measured and printed its JSON, but missed one of its own targets.
   */
  private static final int EXIT_MISSED = 1;

  private ChildRun() {}

  /**
   * Result of a finished run.
   *
   * @param json document that the command wrote
   * @param costs peak memory and processor time of the command's process, without the processes
   *     that it started
   */
  record Ended(JsonNode json, List<Figure> costs) {}

  /**
   * Runs a measurement's command to its end.
   *
   * @param limitSeconds seconds after which the command is ended
   * @param onIdle called a few times a second
   * @throws HeddleException if the command failed or took too long, with its last line of output
   */
  static Ended of(Measurement measurement, boolean quick, long limitSeconds, Runnable onIdle)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      Path output = folder.path().resolve("output");
      Path errors = folder.path().resolve("errors");
      Path json = measurement.jsonFile() ? folder.path().resolve("report.json") : output;
      List<String> command = new ArrayList<>(OwnCommandLine.asStarted());
      command.addAll(measurement.arguments(quick, json.toString()));
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile())
              .start();
      cleanup.add(() -> end(process));
      long start = System.nanoTime();
      ProcessCosts costs = new ProcessCosts();
      while (!process.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
        if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(limitSeconds)) {
          end(process);
          throw new HeddleException("ended after its limit of " + limitSeconds + " s");
        }
        costs.sample(process.toHandle());
        onIdle.run();
      }
      boolean finished =
          process.exitValue() == 0 || process.exitValue() == EXIT_MISSED && Files.size(json) > 0;
      if (!finished) {
        throw new HeddleException(lastLogLines(process.exitValue(), errors, output));
      }
      try {
        return new Ended(Json.mapper().readTree(json.toFile()), costs.figures());
      } catch (JsonProcessingException malformed) {
        throw new HeddleException("its JSON is malformed: " + malformed.getOriginalMessage());
      }
    }
  }

  private static String lastLogLines(int exitCode, Path errors, Path output) throws IOException {
    for (Path file : List.of(errors, output)) {
      List<String> lines = Files.readAllLines(file).stream().filter(l -> !l.isBlank()).toList();
      if (!lines.isEmpty()) {
        String lastLine =
            lines.stream()
                .filter(line -> line.startsWith("heddle: "))
                .map(line -> line.substring("heddle: ".length()))
                .findFirst()
                .orElse(lines.getLast());
        return lastLine + " (exit code " + exitCode + ")";
      }
    }
    return "exit code " + exitCode + " without output";
  }

  /* Ends the command. Sends SIGTERM first, so that it can remove its namespaces and processes. */
  private static void end(Process process) throws InterruptedException {
    process.destroy();
    if (!process.waitFor(ORDERLY_END_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
