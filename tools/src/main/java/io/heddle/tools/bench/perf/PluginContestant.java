package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Contestant of two ranks that send and receive messages through the plugin. */
final class PluginContestant implements Contestant<PluginPlan.Step> {
  static final String CONTROL_THREADS = "control threads' processor time";
  static final String BUSIEST_THREAD = "busiest thread";
  private static final int RANKS = 2;
  private static final long QUIET_SECONDS = 60;

  /** Names of the plugin's threads that don't move data. */
  private static final List<String> CONTROL_THREAD_NAMES =
      List.of("heddle-control", "heddle-routes", "heddle-addresses");

  private static final double PERCENT = 100;
  private final String name;
  private final DriverRanks ranks;
  private final List<JsonNode> started = new ArrayList<>();
  private ThreadTimes times = ThreadTimes.NONE;
  private long measuredNs;

  PluginContestant(
      Lab lab, String name, Path plugin, PluginPlan plan, Map<String, String> environment)
      throws IOException {
    this.name = name;
    ranks =
        new DriverRanks(
            name, lab, RANKS, plan.driver(), plugin, plan.options(), environment, () -> {});
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void awaitWarm() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      started.add(ranks.event(rank, QUIET_SECONDS, "start"));
    }
    for (int rank = 0; rank < RANKS; rank++) {
      ranks.event(rank, QUIET_SECONDS, "warm");
    }
  }

  /**
   * Adds the slower start and the larger memory of the two ranks, and for bandwidths the share of
   * processor time of the control threads, which move no data and exist for plane failures, and the
   * share of a core that the busiest thread had.
   */
  void addCosts(Contest contest) {
    contest.set(name, started.getFirst().path("net").asText("?"));
    contest.add("start", name, "", "ms", most("start_ms"));
    contest.add("memory after the start", name, "", "MiB", most("resident_mib"));
    if (times.all() > 0) {
      contest.add(CONTROL_THREADS, name, "", "%", PERCENT * times.named() / times.all());
      contest.add(BUSIEST_THREAD, name, "", "%", PERCENT * times.busiest() / measuredNs);
    }
  }

  private double most(String field) {
    return started.stream().mapToDouble(each -> each.path(field).asDouble()).max().orElse(0);
  }

  /*
   * Returns the ranks' processor times so far; null if a rank has ended. The next wait for the rank
   * reports its end.
   */
  private @Nullable ThreadTimes timesSoFar() {
    ThreadTimes sum = ThreadTimes.NONE;
    for (long pid : ranks.pids()) {
      try {
        sum = sum.and(ThreadTimes.of(pid, CONTROL_THREAD_NAMES));
      } catch (IOException ended) {
        return null;
      }
    }
    return sum;
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

  @Override
  public void measure(PluginPlan.Step step, Round round) throws InterruptedException {
    round.add(step.toString(), "", step.kind().unit(), sample(step).figure());
  }

  /** Runs one measurement. */
  Sample sample(PluginPlan.Step step) throws InterruptedException {
    @Nullable ThreadTimes before = timesSoFar();
    long start = System.nanoTime();
    ranks.sendLine("go");
    double figure = 0;
    double messageUs = 0;
    for (int rank = 0; rank < RANKS; rank++) {
      JsonNode measured = ranks.event(rank, QUIET_SECONDS, "bandwidth", "latency");
      if (PluginKind.of(measured) != step.kind()
          || measured.path("bytes").asLong() != step.bytes()) {
        throw ranks.failure(rank, "reported " + measured + " instead of " + step);
      }
      figure += step.kind().valueOf(measured);
      messageUs = Math.max(messageUs, measured.path("message_us_p99").asDouble(0));
    }
    @Nullable ThreadTimes after = timesSoFar();
    long tookNs = System.nanoTime() - start;
    double processorNs = Double.NaN;
    if (before != null && after != null) {
      ThreadTimes taken = after.since(before);
      processorNs = taken.all();
      if (step.kind() == PluginKind.BANDWIDTH) {
        times = times.and(taken);
        measuredNs += tookNs;
      }
    }
    return new Sample(figure, messageUs, processorNs);
  }

  @Override
  public void awaitEnd() throws InterruptedException {
    for (int rank = 0; rank < RANKS; rank++) {
      ranks.event(rank, QUIET_SECONDS, "end");
    }
    ranks.awaitEnd();
  }

  @Override
  public void close() throws IOException {
    ranks.close();
  }
}
