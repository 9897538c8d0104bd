package io.heddle.cli.bench.perf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The measurements of one run, the same for every contestant.
 *
 * @param driver the C program, {@code heddle-plugin-perf}
 * @param kinds in the order of {@link PluginPerfKind}
 * @param latencyMaxBytes largest size of a round trip
 * @param outstanding messages under way in a bandwidth measurement, in each flow
 * @param flows connections each way in a bandwidth measurement
 * @param uncountedMs how long each contestant measures in rounds before the first that counts
 * @param milliseconds how long a measurement lasts
 * @param pinned whether the threads that move data keep to one processor each
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
  /** A measurement and its round: from 1 those that count, up to 0 those before. */
  record Step(int round, PluginPerfKind kind, long bytes) {}

  /** Rounds before the first that counts. */
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

  /** In the order in which the driver goes through them. */
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
