package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Contestant of {@code heddle perf one-sided}: ranks that measure puts or messages on request and
 * are idle otherwise.
 */
final class OneSidedContestant implements AutoCloseable {
  private static final long QUIET_SECONDS = 120;

  private final DriverRanks ranks;

  /**
   * Test case.
   *
   * @param name value of the driver's option {@code --test}
   * @param iterations number of iterations of a round
   */
  record Test(String name, long bytes, int ranks, int iterations, String unit) {}

  OneSidedContestant(Lab lab, String transfer, Test test, Path driver, Path plugin, int rounds)
      throws IOException {
    RunFolder folder = new RunFolder();
    ranks =
        new DriverRanks(
            test.name() + " by " + transfer,
            lab,
            test.ranks(),
            folder,
            rank -> command(driver, plugin, folder.path(), transfer, test, rank, rounds),
            Map.of("HEDDLE_ONE_SIDED", "1", "HEDDLE_STATS_DIR", folder.path().toString()),
            () -> {});
  }

  private static List<String> command(
      Path driver, Path plugin, Path folder, String transfer, Test test, int rank, int rounds) {
    return List.of(
        driver.toString(),
        "--plugin=" + plugin,
        "--rendezvous=" + folder,
        "--over=" + transfer,
        "--test=" + test.name(),
        "--rank=" + rank,
        "--ranks=" + test.ranks(),
        "--bytes=" + test.bytes(),
        "--iterations=" + test.iterations(),
        "--rounds=" + rounds,
        "--timeout-seconds=" + QUIET_SECONDS,
        "--turns");
  }

  void awaitWarm() throws InterruptedException {
    event("warm");
  }

  /** Measures one round; returns the figure in the test's unit. */
  double measure() throws InterruptedException {
    ranks.sendLine("go");
    return event("measured").path("value").asDouble();
  }

  void awaitEnd() throws InterruptedException {
    event("end");
    ranks.awaitEnd();
  }

  private JsonNode event(String wanted) throws InterruptedException {
    String line = ranks.next(0, QUIET_SECONDS);
    try {
      JsonNode event = Json.mapper().readTree(line);
      if (event.path("event").asText().equals(wanted)) {
        return event;
      }
    } catch (JsonProcessingException notJson) {
      throw ranks.failure(0, "printed an unexpected line: " + line);
    }
    throw ranks.failure(0, "reported another event than " + wanted + ": " + line);
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
