package io.heddle.tools.job;

import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Run of all-reduces on a lab. It starts a rank on each host and combines the reports. It ends all
 * ranks if one fails or if no rank reports anything for too long.
 */
public final class AllReduceRun implements AutoCloseable {
  private static final long POLL_MS = 100;

  /**
   * Time in ms for the other ranks to detect the death of a rank by themselves, so that their last
   * log lines show it.
   */
  private static final long GRACE_MS = 3_000;

  private final Lab lab;
  private final AllReducePlan plan;
  private final List<RankProcess> processes = new ArrayList<>();
  private final BlockingQueue<Reported> reports = new LinkedBlockingQueue<>();
  private final Map<Long, List<AllReduceEvent.Size>> bySize = new TreeMap<>();
  private final List<AllReduceResult> results = new ArrayList<>();
  private final long[] endedWrong;
  private final boolean[] ended;
  private @Nullable String net;

  private record Reported(int rank, AllReduceEvent event) {}

  public AllReduceRun(Lab lab, AllReducePlan plan) {
    this.lab = lab;
    this.plan = plan;
    this.endedWrong = new long[lab.plan().ranks()];
    this.ended = new boolean[lab.plan().ranks()];
  }

  /**
   * Runs all sizes.
   *
   * @param onResult called with the result of each size, once every rank has reported that size
   * @param onIdle called about ten times a second while no report arrives, for a progress line
   * @return all results
   * @throws HeddleException if a rank dies, hangs, or leaves out a report
   */
  public List<AllReduceResult> run(Consumer<AllReduceResult> onResult, Runnable onIdle)
      throws InterruptedException {
    startRanks();
    long quietSince = System.nanoTime();
    while (true) {
      boolean alive = processes.stream().anyMatch(RankProcess::isAlive);
      Reported reported = reports.poll(POLL_MS, TimeUnit.MILLISECONDS);
      if (reported != null) {
        quietSince = System.nanoTime();
        take(reported, onResult);
        continue;
      }
      onIdle.run();
      failIfOneHasFailed(onResult);
      if (!alive) {
        break;
      }
      if (System.nanoTime() - quietSince
          > TimeUnit.SECONDS.toNanos(plan.sizes().timeoutSeconds())) {
        throw new HeddleException(hangMessage());
      }
    }
    drain(onResult);
    requireEverything();
    return List.copyOf(results);
  }

  /**
   * Runs all sizes for a measurement, in which wrong data is a failure.
   *
   * @param name prefix of failure messages
   * @param folder folder of logs, which is kept on failure
   */
  public List<AllReduceResult> measure(String name, RunFolder folder, Runnable onIdle)
      throws InterruptedException {
    try {
      List<AllReduceResult> measured = run(result -> {}, onIdle);
      if (wrong() != 0 || measured.stream().anyMatch(result -> result.wrong() != 0)) {
        throw new HeddleException("wrong data, so its times are invalid");
      }
      return measured;
    } catch (HeddleException failed) {
      folder.keep();
      throw new HeddleException(name + ": " + failed.getMessage(), failed);
    }
  }

  /** Returns the name of the plugin; null until a rank has reported it. */
  public @Nullable String net() {
    return net;
  }

  private void startRanks() {
    for (int rank = 0; rank < lab.plan().ranks(); rank++) {
      int own = rank;
      Map<String, String> environment = new LinkedHashMap<>(plan.environment());
      environment.putAll(lab.environment(rank));
      Path log = plan.log(rank);
      try {
        processes.add(
            RankProcess.start(
                rank,
                lab.command(rank, plan.command(rank, lab.plan().ranks())),
                environment,
                log,
                line -> reports.add(new Reported(own, AllReduceEvent.parse(line)))));
      } catch (IOException failed) {
        throw new HeddleException(
            "rank " + rank + " could not be started: " + failed.getMessage(), failed);
      }
    }
  }

  private void take(Reported reported, Consumer<AllReduceResult> onResult) {
    switch (reported.event()) {
      case AllReduceEvent.Started started -> net = started.net();
      case AllReduceEvent.Progress goesOn -> {}
      case AllReduceEvent.Size size -> {
        List<AllReduceEvent.Size> sizes =
            bySize.computeIfAbsent(size.bytes(), bytes -> new ArrayList<>());
        sizes.add(size);
        if (sizes.size() == lab.plan().ranks()) {
          AllReduceResult result = AllReduceResult.of(sizes);
          results.add(result);
          onResult.accept(result);
        }
      }
      case AllReduceEvent.Ended end -> {
        ended[reported.rank()] = true;
        endedWrong[reported.rank()] = end.wrong();
      }
      case AllReduceEvent.Unknown unknown ->
          throw new HeddleException(
              "rank " + reported.rank() + " printed an unexpected line: " + unknown.line());
    }
  }

  private void drain(Consumer<AllReduceResult> onResult) {
    for (Reported left = reports.poll(); left != null; left = reports.poll()) {
      take(left, onResult);
    }
  }

  private void failIfOneHasFailed(Consumer<AllReduceResult> onResult) throws InterruptedException {
    for (RankProcess process : processes) {
      if (!process.isAlive() && process.exitCode() != 0) {
        waitForOthers();
        drain(onResult);
        throw new HeddleException(deathMessage(process));
      }
    }
  }

  private void waitForOthers() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GRACE_MS);
    while (processes.stream().anyMatch(RankProcess::isAlive) && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
    }
  }

  private void requireEverything() throws InterruptedException {
    for (RankProcess process : processes) {
      int code = process.exitCode();
      if (code != 0 || !ended[process.rank()]) {
        throw new HeddleException(
            "rank "
                + process.rank()
                + " ended with "
                + RankProcess.describeExit(code)
                + " before its last report"
                + lastLogLines(process));
      }
    }
    if (results.size() != bySize.size() || results.size() != plan.sizes().count()) {
      throw new HeddleException(
          results.size()
              + " of "
              + plan.sizes().count()
              + " sizes were reported by every rank; the run is incomplete");
    }
  }

  /*
   * Returns whether all ranks ended for the same reason, which is then reported once. For example,
   * the plugin can't be loaded.
   */
  private boolean allExitedAlike(RankProcess dead) throws InterruptedException {
    for (RankProcess other : processes) {
      if (other.isAlive()
          || other.exitCode() != dead.exitCode()
          || !other.lastLines().equals(dead.lastLines())) {
        return false;
      }
    }
    return dead.lastLines().size() == 1;
  }

  private String deathMessage(RankProcess dead) throws InterruptedException {
    if (allExitedAlike(dead)) {
      return "every rank died: %s: %s (all logs are in %s)"
          .formatted(
              RankProcess.describeExit(dead.exitCode()),
              dead.lastLines().getFirst(),
              plan.log(dead.rank()).getParent());
    }
    StringBuilder message =
        new StringBuilder(
            "rank " + dead.rank() + " died: " + RankProcess.describeExit(dead.exitCode()));
    message.append(lastLogLines(dead));
    for (RankProcess other : processes) {
      if (other != dead) {
        message.append("\nrank ").append(other.rank());
        message.append(
            other.isAlive()
                ? " was still running"
                : ": " + RankProcess.describeExit(other.exitCode()));
        message.append(lastLogLines(other));
      }
    }
    return message.toString();
  }

  private String hangMessage() {
    StringBuilder message =
        new StringBuilder("no rank reported anything for " + plan.sizes().timeoutSeconds() + " s");
    for (RankProcess process : processes) {
      message
          .append("\nrank ")
          .append(process.rank())
          .append(process.isAlive() ? " hangs" : " has ended");
      message.append(lastLogLines(process));
    }
    return message.toString();
  }

  private String lastLogLines(RankProcess process) {
    List<String> lines = process.lastLines();
    String log = plan.log(process.rank()).toString();
    return lines.isEmpty()
        ? " (it logged nothing)"
        : "; its last log lines (all in " + log + "):\n    " + String.join("\n    ", lines);
  }

  public long wrong() {
    long wrong = 0;
    for (long each : endedWrong) {
      wrong += each;
    }
    return wrong;
  }

  @Override
  public void close() {
    processes.forEach(RankProcess::close);
  }
}
