package io.heddle.cli.bench.perf;

import io.heddle.cli.job.RankProcess;
import io.heddle.cli.job.RunFolder;
import io.heddle.cli.lab.Lab;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A plugin in processes of its own, warm, that wait for orders and sleep meanwhile. */
final class AmongThreadsContestant implements AutoCloseable {
  private static final long POLL_MS = 200;

  /* The ranks themselves give up after a minute without progress. */
  private static final long QUIET_SECONDS = 300;

  private final String role;
  private final AmongThreadsPlan plan;
  private final Runnable onIdle;
  private final RunFolder folder;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final List<BlockingQueue<AmongThreadsEvent>> reports = new ArrayList<>();
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
    this.onIdle = onIdle;
    folder = new RunFolder();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      Map<String, String> all = new LinkedHashMap<>(lab.environment(rank));
      all.putAll(environment);
      all.put("HEDDLE_STATS_DIR", folder.path().toString());
      BlockingQueue<AmongThreadsEvent> queue = new LinkedBlockingQueue<>();
      reports.add(queue);
      ranks.add(
          RankProcess.start(
              rank,
              lab.command(rank, plan.command(plugin, folder.path(), rank)),
              all,
              folder.path().resolve("rank-" + rank + ".log"),
              line -> queue.add(AmongThreadsEvent.parse(line))));
    }
  }

  /** The plugin's own name and its role here; once it is warm. */
  String name() {
    return net + ", " + role;
  }

  void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Ready ready)) {
        throw failure(rank, "said something before it was ready");
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
    for (RankProcess rank : ranks) {
      try {
        rank.say(plan.order(bytes));
      } catch (IOException ended) {
        throw failure(rank.rank(), "takes no more orders");
      }
    }
    List<List<Double>> times = new ArrayList<>();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Turn turn)
          || turn.bytes() != bytes
          || turn.timesUs().size() != plan.turns()) {
        throw failure(rank, "reported something else than a turn of " + bytes + " bytes");
      }
      if (turn.wrong() != 0) {
        throw failure(rank, "has " + turn.wrong() + " wrong elements: its times mean nothing");
      }
      times.add(turn.timesUs());
    }
    return Quantiles.of(AmongThreadsReport.slowestOf(times)).median();
  }

  /** Waits for the ranks to close all and end. */
  void awaitEnd() throws InterruptedException {
    ranks.forEach(RankProcess::endInput);
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (!(next(rank) instanceof AmongThreadsEvent.Ended ended) || ended.wrong() != 0) {
        throw failure(rank, "did not end as it should");
      }
      if (ranks.get(rank).exitCode() != 0) {
        throw failure(rank, "failed at its end");
      }
    }
  }

  private AmongThreadsEvent next(int rank) throws InterruptedException {
    long start = System.nanoTime();
    while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(QUIET_SECONDS)) {
      AmongThreadsEvent event = reports.get(rank).poll(POLL_MS, TimeUnit.MILLISECONDS);
      if (event instanceof AmongThreadsEvent.Unknown unknown) {
        throw failure(rank, "printed a line that is no report: " + unknown.line());
      }
      if (event != null) {
        return event;
      }
      for (RankProcess process : ranks) {
        if (!process.isAlive() && process.exitCode() != 0) {
          throw failure(process.rank(), "died: " + RankProcess.describeExit(process.exitCode()));
        }
      }
      onIdle.run();
    }
    throw failure(rank, "reported nothing for " + QUIET_SECONDS + " s");
  }

  private HeddleException failure(int rank, String what) {
    folder.keep();
    List<String> lines = ranks.get(rank).lastLines();
    String last =
        lines.isEmpty()
            ? " (it logged nothing; all logs are in %s)".formatted(folder.path())
            : "; its last log lines (all logs are in %s):%n    %s"
                .formatted(folder.path(), String.join("\n    ", lines));
    return new HeddleException(role + ": rank " + rank + " " + what + last);
  }

  @Override
  public void close() throws IOException {
    ranks.forEach(RankProcess::close);
    folder.close();
  }
}
