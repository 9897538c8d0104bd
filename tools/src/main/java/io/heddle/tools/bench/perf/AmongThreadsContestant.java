package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.bench.contest.Quantiles;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;

/**
 * Contestant of {@code heddle perf among-threads}: ranks that are connected and warm, and sleep
 * until they are told to measure. A step is the size of an all-reduce in bytes.
 */
final class AmongThreadsContestant implements Contestant<Long> {
  /** Quantity of the share of time that a rank's threads wait for a core. */
  static final String WAITING = ", threads' wait for a core";

  /*
   * Seconds without a line of any rank after which the ranks count as hung. A rank without progress
   * ends by itself after 60 s.
   */
  private static final long QUIET_SECONDS = 300;

  /** Run time in µs from which results contain a thread. */
  private static final double LEAST_RAN_US = 0.5;

  private final String name;
  private final int count;
  private final int turns;
  private final DriverRanks ranks;
  private final Map<Long, List<JsonNode>> accounts = new TreeMap<>();
  private String net = "?";

  /**
   * Starts the ranks.
   *
   * @param turns number of all-reduces in a turn
   * @param options options of the driver
   * @param onIdle called a few times a second while this class waits for ranks
   */
  AmongThreadsContestant(
      Lab lab,
      String name,
      int count,
      int turns,
      Path driver,
      Path plugin,
      List<String> options,
      Map<String, String> environment,
      Runnable onIdle)
      throws IOException {
    this.name = name;
    this.count = count;
    this.turns = turns;
    ranks = new DriverRanks(name, lab, count, driver, plugin, options, environment, onIdle);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < count; rank++) {
      net = ranks.event(rank, QUIET_SECONDS, "ready").path("net").asText("?");
    }
  }

  /* Adds the median time of the turn's all-reduces. */
  @Override
  public void measure(Long bytes, Round round) throws InterruptedException {
    ranks.sendLine(bytes + " " + turns);
    double[] slowestUs = new double[turns];
    for (int rank = 0; rank < count; rank++) {
      JsonNode turn = ranks.event(rank, QUIET_SECONDS, "turns");
      JsonNode timesUs = turn.path("times_us");
      if (turn.path("bytes").asLong() != bytes || timesUs.size() != turns) {
        throw ranks.failure(rank, "reported " + turn + " instead of a turn of " + bytes + " bytes");
      }
      if (turn.path("wrong").asLong(-1) != 0) {
        throw ranks.failure(rank, "has wrong elements, so its times are invalid: " + turn);
      }
      /* An all-reduce ends when the last rank has the result. */
      for (int i = 0; i < turns; i++) {
        slowestUs[i] = Math.max(slowestUs[i], timesUs.path(i).asDouble());
      }
      turn.path("threads")
          .forEach(each -> accounts.computeIfAbsent(bytes, at -> new ArrayList<>()).add(each));
    }
    double median = Quantiles.of(DoubleStream.of(slowestUs)).median();
    round.add(Contest.size(bytes), "", "us", median);
  }

  /**
   * Adds the scheduler statistics of a rank's threads for one all-reduce and the small one before
   * it: means over all ranks and all turns at a size. Adds none unless the ranks report them.
   */
  void addAccounts(Contest contest, int rounds) {
    contest.set(name, net);
    double all = (double) rounds * turns * count;
    accounts.forEach((bytes, threads) -> {
      Map<String, double[]> byName = new LinkedHashMap<>();
      double ran = 0;
      double waited = 0;
      for (JsonNode each : threads) {
        double[] sums = byName.computeIfAbsent(each.path("name").asText(), key -> new double[4]);
        sums[0] += each.path("ran_us").asDouble() / all;
        sums[1] += each.path("waited_us").asDouble() / all;
        sums[2] += each.path("voluntary_switches").asDouble() / all;
        sums[3] += each.path("involuntary_switches").asDouble() / all;
        ran += each.path("ran_us").asDouble();
        waited += each.path("waited_us").asDouble();
      }
      String size = Contest.size(bytes);
      contest.add(size, name, WAITING, "%", 100 * waited / (ran + waited));
      List<Map.Entry<String, double[]>> sorted = new ArrayList<>(byName.entrySet());
      sorted.sort(
          Collections.reverseOrder(
              Map.Entry.comparingByValue((a, b) -> Double.compare(a[0], b[0]))));
      for (Map.Entry<String, double[]> each : sorted) {
        if (each.getValue()[0] >= LEAST_RAN_US) {
          String step = size + ", " + name;
          contest.add(step, each.getKey(), ": ran", "us", each.getValue()[0]);
          contest.add(step, each.getKey(), ": waited", "us", each.getValue()[1]);
          contest.add(step, each.getKey(), ": voluntary switches", "", each.getValue()[2]);
          contest.add(step, each.getKey(), ": involuntary switches", "", each.getValue()[3]);
        }
      }
    });
  }

  /** Waits until the ranks have closed their communicators and ended. */
  @Override
  public void awaitEnd() throws InterruptedException {
    ranks.endInput();
    for (int rank = 0; rank < count; rank++) {
      if (ranks.event(rank, QUIET_SECONDS, "end").path("wrong").asLong(-1) != 0) {
        throw ranks.failure(rank, "did not end cleanly");
      }
    }
    ranks.awaitEnd();
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
