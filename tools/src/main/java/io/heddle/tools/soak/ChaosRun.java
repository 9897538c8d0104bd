package io.heddle.tools.soak;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.tools.job.FailoverCount;
import io.heddle.tools.job.RankProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One run of a soak. It executes a plan with a pair of ranks and derives the verdict from their
 * reports.
 */
final class ChaosRun {
  private static final long LIMIT_SECONDS = 90;
  private static final int EXIT_WRONG_DATA = 1;
  private static final int EXIT_TIMED_OUT = 4;
  private static final int POLL_MS = 20;

  private record Step(long atMs, ChaosEvent event, boolean begins) {}

  private final ChaosPlan plan;
  private final ChaosNetwork network;
  private final ChaosPair pair;
  private final ChaosJudge judge;
  private final Set<ChaosEvent> activeEvents = new HashSet<>();
  private final Set<Integer> killed = new HashSet<>();
  private final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);

  ChaosRun(ChaosPlan plan, ChaosNetwork network, ChaosPair pair) {
    this.plan = plan;
    this.network = network;
    this.pair = pair;
    this.judge = new ChaosJudge(plan);
  }

  ChaosVerdict run() throws IOException, InterruptedException {
    Path folder = Files.createDirectory(pair.folder().resolve("seed-" + plan.seed()));
    for (int rank = 0; rank < ChaosPair.RANKS; rank++) {
      pair.sendLine(
          rank,
          "run "
              + plan.seed()
              + " "
              + plan.milliseconds()
              + " "
              + plan.maxBytes()
              + " "
              + folder.toAbsolutePath());
    }
    String trouble = awaitAll("start");
    long leftBefore = FailoverCount.count(pair.folder());
    if (trouble == null) {
      trouble = runSteps();
    }
    if (trouble == null) {
      trouble = awaitAll("traffic");
    }
    undoStopped();
    if (trouble == null) {
      livingRanks().forEach(rank -> pair.sendLine(rank, "close"));
      trouble = awaitAll("end");
    }
    judge.setFailovers(FailoverCount.count(pair.folder()) - leftBefore);
    List.copyOf(activeEvents).forEach(this::undo);
    return trouble == null
        ? judge.verdict(pair::lastLogLines)
        : judge.unfinished(kindOfTrouble(), trouble, pair::lastLogLines);
  }

  /*
   * Returns the kind of failure of a run that wasn't finished. A rank's exit code shows whether it
   * found wrong data or timed out.
   */
  private ChaosVerdict.Kind kindOfTrouble() throws InterruptedException {
    List<Integer> codes = new ArrayList<>();
    for (int rank : livingRanks()) {
      if (!pair.isAlive(rank)) {
        codes.add(pair.rank(rank).exitCode());
      }
    }
    if (codes.contains(EXIT_WRONG_DATA)) {
      return ChaosVerdict.Kind.WRONG;
    }
    return codes.stream().allMatch(code -> code == EXIT_TIMED_OUT)
        ? ChaosVerdict.Kind.HUNG
        : ChaosVerdict.Kind.FAILED;
  }

  private List<Integer> livingRanks() {
    List<Integer> ranks = new ArrayList<>();
    for (int rank = 0; rank < ChaosPair.RANKS; rank++) {
      if (!killed.contains(rank)) {
        ranks.add(rank);
      }
    }
    return ranks;
  }

  /**
   * Waits until every living rank has reported an event.
   *
   * @return reason of a failure; null if all have reported
   */
  private @Nullable String awaitAll(String event) throws InterruptedException {
    while (!judge.hasAll(event, livingRanks())) {
      String trouble = receiveReport(POLL_MS);
      if (trouble != null) {
        return trouble + " before its " + event;
      }
    }
    return null;
  }

  private @Nullable String receiveReport(long timeoutMs) throws InterruptedException {
    JsonNode report = pair.report(timeoutMs);
    if (report != null) {
      judge.addReport(report);
      return null;
    }
    for (int rank : livingRanks()) {
      if (!pair.isAlive(rank)) {
        return "rank " + rank + " ended: " + RankProcess.describeExit(pair.rank(rank).exitCode());
      }
    }
    return System.nanoTime() - limitNs > 0 ? "not finished after " + LIMIT_SECONDS + " s" : null;
  }

  private @Nullable String runSteps() throws InterruptedException {
    List<Step> steps = new ArrayList<>();
    for (ChaosEvent event : plan.events()) {
      steps.add(new Step(event.atMs(), event, true));
      if (event.forMs() != ChaosEvent.FOR_EVER) {
        steps.add(new Step(event.endMs(), event, false));
      }
    }
    steps.sort(Comparator.comparingLong(Step::atMs));
    long startNs = System.nanoTime();
    for (Step step : steps) {
      long dueNs = startNs + TimeUnit.MILLISECONDS.toNanos(step.atMs());
      for (long left = dueNs - System.nanoTime(); left > 0; left = dueNs - System.nanoTime()) {
        if (judge.hasAll("traffic", livingRanks())) {
          return null;
        }
        String trouble = receiveReport(Math.min(POLL_MS, left / 1_000_000 + 1));
        if (trouble != null) {
          return trouble + " before its traffic";
        }
      }
      if (step.begins()) {
        begin(step.event());
      } else {
        undo(step.event());
      }
    }
    return null;
  }

  private void begin(ChaosEvent event) {
    activeEvents.add(event);
    if (event.isFatal()) {
      judge.setFatalTime(System.nanoTime());
    }
    if (event.fault().isOfProcess()) {
      beginAtProcess(event);
    } else {
      network.begin(event);
    }
  }

  private void undo(ChaosEvent event) {
    if (!activeEvents.remove(event)) {
      return;
    }
    if (event.fault().isOfProcess()) {
      undoAtProcess(event);
    } else {
      network.undo(event);
    }
  }

  private void beginAtProcess(ChaosEvent event) {
    if (event.fault() == ChaosFault.STOPPED_PEER) {
      pair.signal(event.rank(), "STOP");
    } else if (event.fault() == ChaosFault.CLOCK_STEP) {
      pair.sendLine(event.rank(), "clock " + event.amount());
    } else {
      killed.add(event.rank());
      pair.kill(event.rank());
    }
  }

  /* Undoes a fault of a process. Does nothing after a kill. */
  private void undoAtProcess(ChaosEvent event) {
    if (event.fault() == ChaosFault.STOPPED_PEER) {
      pair.signal(event.rank(), "CONT");
    } else if (event.fault() == ChaosFault.CLOCK_STEP) {
      pair.sendLine(event.rank(), "clock 0");
    }
  }

  private void undoStopped() {
    for (ChaosEvent event : List.copyOf(activeEvents)) {
      if (event.fault() == ChaosFault.STOPPED_PEER) {
        undo(event);
      }
    }
  }

  /** Returns the killed rank, or -1 if none was killed. */
  int killedRank() {
    return killed.stream().findFirst().orElse(-1);
  }
}
