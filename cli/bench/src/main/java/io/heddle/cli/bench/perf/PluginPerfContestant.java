package io.heddle.cli.bench.perf;

import io.heddle.cli.job.RunFolder;
import io.heddle.cli.lab.Lab;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A plugin in two processes of its own, warm, that measures when it is its turn and uses no
 * processor otherwise.
 */
final class PluginPerfContestant implements AutoCloseable {
  private static final int RANKS = 2;
  private static final long QUIET_SECONDS = 60;

  /** Those of the plugin that don't move data. */
  private static final List<String> CONTROL_THREADS =
      List.of("heddle-control", "heddle-routes", "heddle-addresses");

  private static final double PERCENT = 100;

  private final String role;
  private final DriverRanks ranks;
  private final List<PluginPerfEvent.Started> started = new ArrayList<>();
  private ThreadTimes times = new ThreadTimes(0, 0);

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
   * The plugin's own name and its role here, and the slower start and the larger memory of its
   * ranks; once warm. What its threads did is that of the measurements so far.
   */
  PluginPerfReport.Contestant entry() {
    return new PluginPerfReport.Contestant(
        started.getFirst().net() + ", " + role,
        started.stream().mapToDouble(PluginPerfEvent.Started::startMs).max().orElse(0),
        started.stream().mapToDouble(PluginPerfEvent.Started::residentMebibytes).max().orElse(0),
        times.all() == 0 ? null : PERCENT * times.named() / times.all());
  }

  /* Null where a rank has ended: who tells why looks at its exit code. */
  private @Nullable ThreadTimes timesSoFar() {
    ThreadTimes sum = new ThreadTimes(0, 0);
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
   * Waits until both ranks are connected and have run for a while.
   *
   * @throws HeddleException when one ends, or neither is heard of for a minute
   */
  void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Started own)) {
        throw ranks.failure(rank, "said something before its start");
      }
      started.add(own);
    }
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Warm)) {
        throw ranks.failure(rank, "said something before it was warm");
      }
    }
  }

  /**
   * One measurement.
   *
   * @param figure in the unit of its kind
   * @param messageP99Us time of a message in a stream one way, which 99 in 100 don't exceed
   * @param processorNs that the ranks' threads had, or NaN where that isn't known
   */
  record Sample(double figure, double messageP99Us, double processorNs) {}

  /** As {@link #sample}; the figure alone. */
  double measure(PluginPerfPlan.Step step) throws InterruptedException {
    return sample(step).figure();
  }

  /**
   * One measurement.
   *
   * @throws HeddleException when a rank ends, delivers wrong data or isn't heard of
   */
  Sample sample(PluginPerfPlan.Step step) throws InterruptedException {
    @Nullable ThreadTimes before = timesSoFar();
    ranks.say("go");
    double[] values = new double[RANKS];
    double messageUs = 0;
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Measured measured)
          || measured.kind() != step.kind()
          || measured.bytes() != step.bytes()) {
        throw ranks.failure(rank, "reported something else than " + step);
      }
      values[rank] = measured.value();
      messageUs = Math.max(messageUs, measured.messageP99Us());
    }
    @Nullable ThreadTimes after = timesSoFar();
    double processorNs = Double.NaN;
    if (before != null && after != null) {
      ThreadTimes taken = after.since(before);
      processorNs = taken.all();
      times = step.kind() == PluginPerfKind.BANDWIDTH ? times.and(taken) : times;
    }
    return new Sample(step.kind().figure(values[0], values[1]), messageUs, processorNs);
  }

  /** Waits for the ranks to close their communicators and end. */
  void awaitEnd() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      if (!(next(rank) instanceof PluginPerfEvent.Ended)) {
        throw ranks.failure(rank, "reported more than was asked for");
      }
    }
    ranks.awaitEnd();
  }

  private PluginPerfEvent next(int rank) throws InterruptedException {
    PluginPerfEvent event = PluginPerfEvent.parse(ranks.next(rank, QUIET_SECONDS));
    if (event instanceof PluginPerfEvent.Unknown unknown) {
      throw ranks.failure(rank, "printed a line that is no report: " + unknown.line());
    }
    return event;
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
