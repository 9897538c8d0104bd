package io.heddle.tools.bench.perf;

import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Contestant of {@code heddle perf plugin}: two warm ranks that measure on request and are idle
 * otherwise.
 */
final class PluginPerfContestant implements AutoCloseable {
  private static final int RANKS = 2;
  private static final long QUIET_SECONDS = 60;

  /** Names of the plugin's threads that don't move data. */
  private static final List<String> CONTROL_THREADS =
      List.of("heddle-control", "heddle-routes", "heddle-addresses");

  private static final double PERCENT = 100;

  private final String role;
  private final DriverRanks ranks;
  private final List<PluginPerfEvent.Started> started = new ArrayList<>();
  private ThreadTimes times = ThreadTimes.NONE;
  private long measuredNs;

  PluginPerfContestant(
      Lab lab, String role, Path plugin, PluginPerfPlan plan, Map<String, String> environment)
      throws IOException {
    this.role = role;
    RunFolder folder = new RunFolder();
    ranks =
        new DriverRanks(
            role,
            lab,
            RANKS,
            folder,
            rank -> plan.command(plugin, folder.path(), rank),
            environment,
            () -> {});
  }

  /**
   * Returns the contestant's entry in the report. It contains the slower start and the larger
   * memory of the two ranks, and the control threads' share of processor time in the measurements
   * so far. Valid once the ranks are warm.
   */
  PluginPerfReport.Contestant entry() {
    return new PluginPerfReport.Contestant(
        started.getFirst().net() + ", " + role,
        started.stream().mapToDouble(PluginPerfEvent.Started::startMs).max().orElse(0),
        started.stream().mapToDouble(PluginPerfEvent.Started::residentMebibytes).max().orElse(0),
        times.all() == 0 ? null : PERCENT * times.named() / times.all(),
        times.all() == 0 ? null : PERCENT * times.busiest() / measuredNs);
  }

  /*
   * Returns the ranks' processor times so far; null if a rank has ended. The next wait for the rank
   * reports its end.
   */
  private @Nullable ThreadTimes timesSoFar() {
    ThreadTimes sum = ThreadTimes.NONE;
    for (long pid : ranks.pids()) {
      try {
        sum = sum.and(ThreadTimes.of(pid, CONTROL_THREADS));
      } catch (IOException ended) {
        return null;
      }
    }
    return sum;
  }

  /**
   * Waits until both ranks are connected and warm.
   *
   * @throws HeddleException if a rank ends, or no rank reports anything for a minute
   */
  void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Started own)) {
        throw ranks.failure(rank, "printed an unexpected line before its start");
      }
      started.add(own);
    }
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Warm)) {
        throw ranks.failure(rank, "printed an unexpected line before it was warm");
      }
    }
  }

  /**
   * Result of one measurement.
   *
   * @param figure measured value, in the unit of the measurement's kind
   * @param messageP99Us 99th percentile of the message time in a one-way stream, µs
   * @param processorNs processor time of the ranks' threads during the measurement, ns; NaN if
   *     unknown
   */
  record Sample(double figure, double messageP99Us, double processorNs) {}

  /** Runs one measurement and returns its figure. */
  double measure(PluginPerfPlan.Step step) throws InterruptedException {
    return sample(step).figure();
  }

  /**
   * Runs one measurement.
   *
   * @throws HeddleException if a rank ends, delivers wrong data or reports nothing
   */
  Sample sample(PluginPerfPlan.Step step) throws InterruptedException {
    @Nullable ThreadTimes before = timesSoFar();
    long start = System.nanoTime();
    ranks.sendLine("go");
    double[] values = new double[RANKS];
    double messageUs = 0;
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Measured measured)
          || measured.kind() != step.kind()
          || measured.bytes() != step.bytes()) {
        throw ranks.failure(rank, "reported another event than " + step);
      }
      values[rank] = measured.value();
      messageUs = Math.max(messageUs, measured.messageP99Us());
    }
    @Nullable ThreadTimes after = timesSoFar();
    long tookNs = System.nanoTime() - start;
    double processorNs = Double.NaN;
    if (before != null && after != null) {
      ThreadTimes taken = after.since(before);
      processorNs = taken.all();
      if (step.kind() == PluginPerfKind.BANDWIDTH) {
        times = times.and(taken);
        measuredNs += tookNs;
      }
    }
    return new Sample(step.kind().combine(values[0], values[1]), messageUs, processorNs);
  }

  /** Waits for the ranks to close their communicators and end. */
  void awaitEnd() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Ended)) {
        throw ranks.failure(rank, "reported more events than expected");
      }
    }
    ranks.awaitEnd();
  }

  private PluginPerfEvent next(int rank) throws InterruptedException {
    PluginPerfEvent event = PluginPerfEvent.parse(ranks.next(rank, QUIET_SECONDS));
    if (event instanceof PluginPerfEvent.Unknown unknown) {
      throw ranks.failure(rank, "printed an unexpected line: " + unknown.line());
    }
    return event;
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
