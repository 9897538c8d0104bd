package io.heddle.cli.bench.perf;

import io.heddle.cli.job.RunFolder;
import io.heddle.cli.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A plugin in processes of its own, warm, that wait for orders and sleep meanwhile. */
final class AmongThreadsContestant implements AutoCloseable {
  /* The ranks themselves give up after a minute without progress. */
  private static final long QUIET_SECONDS = 300;

  private final String role;
  private final AmongThreadsPlan plan;
  private final DriverRanks ranks;
  private final Map<Long, List<ThreadAccount>> accounts = new TreeMap<>();
  private String net = "?";

  /**
   * @param onIdle called a few times a second while it waits
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

  /** The plugin's own name and its role here; once it is warm. */
  String name() {
    return net + ", " + role;
  }

  void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Ready ready)) {
        throw ranks.failure(rank, "said something before it was ready");
      }
      net = ready.net();
    }
  }

  /**
   * Its turn at a size.
   *
   * @return median time of an all-reduce, us
   * @throws HeddleException when a rank ends, has wrong data or isn't heard of
   */
  double turn(long bytes) throws InterruptedException {
    ranks.say(plan.order(bytes));
    List<List<Double>> times = new ArrayList<>();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Turn turn)
          || turn.bytes() != bytes
          || turn.timesUs().size() != plan.turns()) {
        throw ranks.failure(rank, "reported something else than a turn of " + bytes + " bytes");
      }
      if (turn.wrong() != 0) {
        throw ranks.failure(
            rank, "has " + turn.wrong() + " wrong elements: its times mean nothing");
      }
      times.add(turn.timesUs());
      accounts.computeIfAbsent(bytes, size -> new ArrayList<>()).addAll(turn.threads());
    }
    return Quantiles.of(AmongThreadsReport.slowestOf(times)).median();
  }

  /**
   * Who ran in all turns at a size: means of a rank for each all-reduce, with the small one before
   * it. Empty unless the plan asks for it.
   */
  List<ThreadAccount> threads(long bytes, int rounds) {
    return ThreadAccount.means(
        accounts.getOrDefault(bytes, List.of()), (double) rounds * plan.turns() * plan.ranks());
  }

  /** Waits for the ranks to close all and end. */
  void awaitEnd() throws InterruptedException {
    ranks.endInput();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Ended ended) || ended.wrong() != 0) {
        throw ranks.failure(rank, "did not end as it should");
      }
    }
    ranks.awaitEnd();
  }

  private AmongThreadsEvent next(int rank) throws InterruptedException {
    AmongThreadsEvent event = AmongThreadsEvent.parse(ranks.next(rank, QUIET_SECONDS));
    if (event instanceof AmongThreadsEvent.Unknown unknown) {
      throw ranks.failure(rank, "printed a line that is no report: " + unknown.line());
    }
    return event;
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
