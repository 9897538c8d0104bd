package io.heddle.tools.simulate;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.platform.HeddleException;
import io.heddle.sim.check.CheckRow;
import io.heddle.sim.check.LabCheck;
import io.heddle.sim.check.MeasuredLab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Comparison of a measured lab with its simulation. {@code heddle perf policies} measures the lab
 * of real routers. Only policies with reproducible results are compared.
 */
final class LabMeasurement {
  /**
   * Rate of a plane, Gbit/s. The lab's BGP announces a hundred times a plane's rate, in whole
   * Gbit/s: 12 for this rate, and 3 for a quarter of it. So neither is rounded.
   */
  private static final double RATE_GBPS = 0.12;

  private static final int MILLISECONDS = 2_000;
  private static final long POLL_MS = 200;
  private static final long END_SECONDS = 15;
  private static final String EQUAL = "equal";
  private static final String ANNOUNCED = "announced";

  private LabMeasurement() {}

  static List<String> command(int rounds) {
    List<String> command = new ArrayList<>(OwnCommandLine.asStarted());
    command.addAll(
        List.of(
            "perf",
            "policies",
            "--json",
            "--policies",
            "spray,pinned",
            "--situations",
            "EQUAL,ANNOUNCED,UNANNOUNCED",
            "--rate",
            String.format(Locale.ROOT, "%.2f", RATE_GBPS),
            "--rounds",
            Integer.toString(rounds),
            "--milliseconds",
            Integer.toString(MILLISECONDS)));
    return command;
  }

  /**
   * Measures the lab, simulates it, and compares the results.
   *
   * @param rounds number of rounds of the measurement, of which the median counts
   * @param progress consumer that is called repeatedly with the measurement's last progress line
   */
  static List<CheckRow> run(int rounds, long seed, Consumer<String> progress) {
    try (Cleanup cleanup = new Cleanup()) {
      Path output = Files.createTempFile("heddle-lab", ".json");
      cleanup.add(() -> Files.deleteIfExists(output));
      Path errors = Files.createTempFile("heddle-lab", ".log");
      cleanup.add(() -> Files.deleteIfExists(errors));
      Process process =
          new ProcessBuilder(command(rounds))
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile())
              .start();
      cleanup.add(() -> end(process));
      while (!process.waitFor(POLL_MS, TimeUnit.MILLISECONDS)) {
        progress.accept(lastLine(errors));
      }
      if (process.exitValue() != 0) {
        throw new HeddleException("can't measure the lab: " + lastLine(errors));
      }
      return compare(Json.mapper().readTree(output.toFile()), seed);
    } catch (IOException failed) {
      throw new HeddleException("can't measure the lab: " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted while measuring the lab", interrupted);
    }
  }

  /* Ends the measurement. Sends SIGTERM first, so that it can remove its lab. */
  private static void end(Process process) throws InterruptedException {
    process.destroy();
    if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
    }
  }

  private static String lastLine(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file).stream().filter(each -> !each.isBlank()).toList();
    return lines.isEmpty() ? "" : lines.getLast();
  }

  /**
   * Returns comparison rows for every policy in every situation of a report of {@code heddle perf
   * policies}.
   */
  static List<CheckRow> compare(JsonNode report, long seed) {
    JsonNode settings = report.path("settings");
    int planes = settings.path("planes").asInt();
    LabCheck check =
        new LabCheck(
            planes,
            settings.path("rate_gbps").asDouble() * settings.path("payload_share").asDouble(),
            settings.path("message_bytes").asLong(),
            settings.path("outstanding").asInt(),
            settings.path("milliseconds").asDouble() / 1e3);
    List<CheckRow> rows = new ArrayList<>();
    for (JsonNode goodput : report.path("series")) {
      if (goodput.path("unit").asText().equals("Gbit/s")) {
        String situation = goodput.path("step").asText();
        List<Double> shares = new ArrayList<>();
        for (int plane = 1; plane <= planes; plane++) {
          shares.add(mean(report, goodput.path("name").asText() + ", share of plane " + plane));
        }
        rows.addAll(
            check.rows(
                new MeasuredLab(
                    situation,
                    goodput.path("contestant").asText(),
                    situation.equals(ANNOUNCED),
                    !situation.equals(EQUAL),
                    middle(goodput.path("rounds")),
                    shares),
                seed));
      }
    }
    return rows;
  }

  private static double middle(JsonNode rounds) {
    double[] values = new double[rounds.size()];
    Arrays.setAll(values, i -> rounds.get(i).asDouble());
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private static double mean(JsonNode report, String series) {
    double sum = 0;
    int rounds = 0;
    for (JsonNode each : report.path("series")) {
      if (each.path("name").asText().equals(series)) {
        for (JsonNode round : each.path("rounds")) {
          sum += round.asDouble();
          rounds++;
        }
      }
    }
    return sum / rounds;
  }
}
