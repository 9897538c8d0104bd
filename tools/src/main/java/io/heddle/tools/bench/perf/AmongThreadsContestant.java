package io.heddle.tools.bench.perf;

import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Contestant of {@code heddle perf among-threads}: ranks that are connected and warm, and sleep
 * until they are told to measure.
 */
final class AmongThreadsContestant implements AutoCloseable {
  /*
   * Seconds without a line of any rank after which the ranks count as hung. A rank without progress
   * ends by itself after 60 s.
   */
  private static final long QUIET_SECONDS = 300;

  private final String role;
  private final AmongThreadsPlan plan;
  private final DriverRanks ranks;
  private final Map<Long, List<ThreadAccount>> accounts = new TreeMap<>();
  private String net = "?";

  /**
   * Starts the ranks.
   *
   * @param onIdle called a few times a second while this class waits for ranks
   */
  AmongThreadsContestant(
      Lab lab,
      String role,
      Path plugin,
      AmongThreadsPlan plan,
      Map<String, String> environment,
      Runnable onIdle)
      throws IOException {
    this.role = role;
    this.plan = plan;
    RunFolder folder = new RunFolder();
    Map<String, String> all = new LinkedHashMap<>(environment);
    all.put("HEDDLE_STATS_DIR", folder.path().toString());
    ranks =
        new DriverRanks(
            role,
            lab,
            plan.ranks(),
            folder,
            rank -> plan.command(plugin, folder.path(), rank),
            all,
            onIdle);
  }

  /** Returns the plugin's name and the contestant's role; valid once the ranks are warm. */
  String name() {
    return net + ", " + role;
  }

  void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Ready ready)) {
        throw ranks.failure(rank, "printed an unexpected line before it was ready");
      }
      net = ready.net();
    }
  }

  /**
   * Measures the all-reduces of one turn at a size.
   *
   * @return median time of an all-reduce, µs
   * @throws HeddleException if a rank ends, has wrong data or reports nothing
   */
  double runTurn(long bytes) throws InterruptedException {
    ranks.sendLine(plan.requestLine(bytes));
    List<List<Double>> times = new ArrayList<>();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Turn turn)
          || turn.bytes() != bytes
          || turn.timesUs().size() != plan.turns()) {
        throw ranks.failure(rank, "reported another event than a turn of " + bytes + " bytes");
      }
      if (turn.wrong() != 0) {
        throw ranks.failure(
            rank, "has " + turn.wrong() + " wrong elements, so its times are invalid");
      }
      times.add(turn.timesUs());
      accounts.computeIfAbsent(bytes, size -> new ArrayList<>()).addAll(turn.threads());
    }
    return Quantiles.of(AmongThreadsReport.slowestOf(times)).median();
  }

  /**
   * Returns the scheduler statistics of each thread of a rank for one all-reduce and the small one
   * before it: the means over all ranks and all turns at a size. Empty unless the plan enables
   * accounts.
   */
  List<ThreadAccount> threads(long bytes, int rounds) {
    return ThreadAccount.means(
        accounts.getOrDefault(bytes, List.of()), (double) rounds * plan.turns() * plan.ranks());
  }

  /** Waits until the ranks have closed their communicators and ended. */
  void awaitEnd() throws InterruptedException {
    ranks.endInput();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Ended ended) || ended.wrong() != 0) {
        throw ranks.failure(rank, "did not end cleanly");
      }
    }
    ranks.awaitEnd();
  }

  private AmongThreadsEvent next(int rank) throws InterruptedException {
    AmongThreadsEvent event = AmongThreadsEvent.parse(ranks.next(rank, QUIET_SECONDS));
    if (event instanceof AmongThreadsEvent.Unknown unknown) {
      throw ranks.failure(rank, "printed an unexpected line: " + unknown.line());
    }
    return event;
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
