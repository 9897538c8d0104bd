package io.heddle.tools.bench.perf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Plan of the measurements of a run, which is the same for every contestant.
 *
 * @param driver path of the C program {@code heddle-plugin-perf}
 * @param kinds kinds to measure, in the order of {@link PluginPerfKind}
 * @param latencyMaxBytes largest message of a round trip
 * @param outstanding number of messages in flight on each connection in a bandwidth measurement
 * @param flows number of connections in each direction in a bandwidth measurement
 * @param uncountedMs time in ms that each contestant spends in uncounted rounds before the first
 *     counted one
 * @param milliseconds duration of a measurement, ms
 * @param pinned whether each data thread is pinned to a processor
 */
record PluginPerfPlan(
    Path driver,
    List<PluginPerfKind> kinds,
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
  /** Measurement in a round. Rounds from 1 on are counted; earlier ones are warm-up. */
  record Step(int round, PluginPerfKind kind, long bytes) {}

  /** Returns the number of uncounted rounds. */
  private int uncountedRounds() {
    long roundMs = (long) milliseconds * Math.max(1, stepsOf(1).size());
    return Math.toIntExact(Math.ceilDiv(uncountedMs, roundMs));
  }

  List<String> command(Path plugin, Path folder, int rank) {
    List<String> command =
        new ArrayList<>(
            List.of(
                driver.toString(),
                "--plugin",
                plugin.toString(),
                "--rendezvous",
                folder.toString(),
                "--rank",
                Integer.toString(rank),
                "--kinds",
                String.join(",", kinds.stream().map(PluginPerfKind::option).toList()),
                "--min-bytes",
                Long.toString(minBytes),
                "--max-bytes",
                Long.toString(maxBytes),
                "--latency-max-bytes",
                Long.toString(latencyMaxBytes),
                "--factor",
                Integer.toString(factor),
                "--outstanding",
                Integer.toString(outstanding),
                "--flows",
                Integer.toString(flows),
                "--rounds",
                Integer.toString(uncountedRounds() + rounds),
                "--milliseconds",
                Integer.toString(milliseconds),
                "--turns"));
    if (pinned) {
      command.add("--pin");
    }
    return command;
  }

  /** Returns the steps in the order in which the driver runs them. */
  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    for (int round = 1 - uncountedRounds(); round <= rounds; round++) {
      steps.addAll(stepsOf(round));
    }
    return steps;
  }

  private List<Step> stepsOf(int round) {
    List<Step> steps = new ArrayList<>();
    for (long bytes = minBytes; bytes <= maxBytes; bytes *= factor) {
      for (PluginPerfKind kind : kinds) {
        if (kind != PluginPerfKind.LATENCY || bytes <= latencyMaxBytes) {
          steps.add(new Step(round, kind, bytes));
        }
      }
    }
    return steps;
  }
}
