package io.heddle.cli.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.job.RunFolder;
import io.heddle.cli.kit.Json;
import io.heddle.cli.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * One way between ranks, puts or messages, in processes of its own that measure when it is their
 * turn and use no processor otherwise.
 */
final class OneSidedContestant implements AutoCloseable {
  private static final long QUIET_SECONDS = 120;

  private final DriverRanks ranks;

  /**
   * What is measured.
   *
   * @param name as the driver's {@code --test} takes it
   * @param iterations of a round
   */
  record Test(String name, long bytes, int ranks, int iterations, String unit) {}

  OneSidedContestant(Lab lab, String way, Test test, Path driver, Path plugin, int rounds)
      throws IOException {
    RunFolder folder = new RunFolder();
    ranks =
        new DriverRanks(
            test.name() + " by " + way,
            lab,
            test.ranks(),
            folder,
            rank -> command(driver, plugin, folder.path(), way, test, rank, rounds),
            Map.of("HEDDLE_ONE_SIDED", "1", "HEDDLE_STATS_DIR", folder.path().toString()),
            () -> {});
  }

  private static List<String> command(
      Path driver, Path plugin, Path folder, String way, Test test, int rank, int rounds) {
    return List.of(
        driver.toString(),
        "--plugin=" + plugin,
        "--rendezvous=" + folder,
        "--over=" + way,
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

  /** One round, in the test's unit. */
  double measure() throws InterruptedException {
    ranks.say("go");
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
      throw ranks.failure(0, "printed a line that is no report: " + line);
    }
    throw ranks.failure(0, "reported something else than " + wanted + ": " + line);
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
