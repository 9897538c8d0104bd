package io.heddle.cli.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.job.RunFolder;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.SelfCall;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** One run of another command of heddle, in a process of its own. */
final class ChildRun {
  private static final long POLL_MS = 200;
  private static final long ORDERLY_END_SECONDS = 15;

  /** Of a command that measured and found an aim of its own missed; it printed its JSON then. */
  private static final int EXIT_MISSED = 1;

  private ChildRun() {}

  /**
   * What came of it.
   *
   * @param json that the command wrote
   * @param costs of its process, as far as they could be seen: its ranks' are their own
   */
  record Ended(JsonNode json, List<Figure> costs) {}

  /**
   * Runs the command to its end.
   *
   * @param limitSeconds after which it is ended
   * @param onIdle called a few times a second
   * @throws HeddleException where it failed or took too long, with its last words
   */
  static Ended of(Measurement measurement, boolean quick, long limitSeconds, Runnable onIdle)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      Path output = folder.path().resolve("output");
      Path errors = folder.path().resolve("errors");
      Path json = measurement.jsonFile() ? folder.path().resolve("report.json") : output;
      List<String> command = new ArrayList<>(SelfCall.asStarted());
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
          throw new HeddleException("not done after " + limitSeconds + " s");
        }
        costs.look(process.toHandle());
        onIdle.run();
      }
      boolean finished =
          process.exitValue() == 0 || process.exitValue() == EXIT_MISSED && Files.size(json) > 0;
      if (!finished) {
        throw new HeddleException(lastWords(process.exitValue(), errors, output));
      }
      try {
        return new Ended(Json.mapper().readTree(json.toFile()), costs.figures());
      } catch (JsonProcessingException malformed) {
        throw new HeddleException("its JSON is malformed: " + malformed.getOriginalMessage());
      }
    }
  }

  private static String lastWords(int exitCode, Path errors, Path output) throws IOException {
    for (Path file : List.of(errors, output)) {
      List<String> lines = Files.readAllLines(file).stream().filter(l -> !l.isBlank()).toList();
      if (!lines.isEmpty()) {
        String told =
            lines.stream()
                .filter(line -> line.startsWith("heddle: "))
                .map(line -> line.substring("heddle: ".length()))
                .findFirst()
                .orElse(lines.getLast());
        return told + " (exit code " + exitCode + ")";
      }
    }
    return "exit code " + exitCode + " without a word";
  }

  /* SIGTERM first, so that it takes down what it has set up. */
  private static void end(Process process) throws InterruptedException {
    process.destroy();
    if (!process.waitFor(ORDERLY_END_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }
}
