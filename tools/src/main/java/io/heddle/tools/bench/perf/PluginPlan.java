package io.heddle.tools.bench.perf;

import io.heddle.tools.bench.contest.Contest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Plan of the measurements of a run, which is the same for every contestant.
 *
 * @param driver path of the C program {@code heddle-plugin-perf}
 * @param kinds kinds to measure, in the order of {@link PluginKind}
 * @param latencyMaxBytes largest message of a round trip
 * @param outstanding number of messages in flight on each connection in a bandwidth measurement
 * @param flows number of connections in each direction in a bandwidth measurement
 * @param uncountedMs time in ms that each contestant spends in uncounted rounds before the first
 *     counted one
 * @param milliseconds duration of a measurement, ms
 * @param pinned whether each data thread is pinned to a processor
 */
record PluginPlan(
    Path driver,
    List<PluginKind> kinds,
    long minBytes,
    long maxBytes,
    long latencyMaxBytes,
    int factor,
    int outstanding,
    int flows,
    long uncountedMs,
    int rounds,
    int milliseconds,
    boolean pinned) {
  /** Measurement in a round. */
  record Step(PluginKind kind, long bytes) {
    @Override
    public String toString() {
      return kind.word() + " " + Contest.size(bytes);
    }
  }

  /** Returns the number of uncounted rounds. */
  int uncountedRounds() {
    long roundMs = (long) milliseconds * Math.max(1, steps().size());
    return Math.toIntExact(Math.ceilDiv(uncountedMs, roundMs));
  }

  /** Returns the driver's options. */
  List<String> options() {
    List<String> options =
        new ArrayList<>(
            List.of(
                "--kinds=" + String.join(",", kinds.stream().map(PluginKind::word).toList()),
                "--min-bytes=" + minBytes,
                "--max-bytes=" + maxBytes,
                "--latency-max-bytes=" + latencyMaxBytes,
                "--factor=" + factor,
                "--outstanding=" + outstanding,
                "--flows=" + flows,
                "--rounds=" + (uncountedRounds() + rounds),
                "--milliseconds=" + milliseconds,
                "--turns"));
    if (pinned) {
      options.add("--pin");
    }
    return options;
  }

  /** Returns the steps of a round in the order in which the driver runs them. */
  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    for (long bytes = minBytes; bytes <= maxBytes; bytes *= factor) {
      for (PluginKind kind : kinds) {
        if (kind != PluginKind.LATENCY || bytes <= latencyMaxBytes) {
          steps.add(new Step(kind, bytes));
        }
      }
    }
    return steps;
  }
}
