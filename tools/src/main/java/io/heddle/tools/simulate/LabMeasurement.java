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
   * Rate of a plane, Gbit/s. The lab's BGP announces a hundred times the rate in whole Gbit/s, so a
   * quarter of this rate is announced exactly too.
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
    int planes = report.path("plane_count").asInt();
    LabCheck check =
        new LabCheck(
            planes,
            report.path("rate_gbps").asDouble() * report.path("payload_share").asDouble(),
            report.path("message_bytes").asLong(),
            report.path("outstanding").asInt(),
            report.path("milliseconds").asDouble() / 1e3);
    List<CheckRow> rows = new ArrayList<>();
    for (JsonNode situation : report.path("situations")) {
      String name = situation.path("name").asText();
      for (JsonNode cell : situation.path("policies")) {
        rows.addAll(
            check.rows(
                new MeasuredLab(
                    name,
                    cell.path("policy").asText(),
                    name.equals(ANNOUNCED),
                    !name.equals(EQUAL),
                    middle(cell.path("goodput_gbps")),
                    shares(cell.path("plane_shares"), planes)),
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

  private static List<Double> shares(JsonNode rounds, int planes) {
    List<Double> shares = new ArrayList<>();
    for (int plane = 0; plane < planes; plane++) {
      double sum = 0;
      for (JsonNode round : rounds) {
        sum += round.path(plane).asDouble();
      }
      shares.add(sum / rounds.size());
    }
    return shares;
  }
}
