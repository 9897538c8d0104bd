package io.heddle.cli.bench.perf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the ranks of every contestant do.
 *
 * @param driver the ranks' program
 * @param spins looks in vain after which a worker gives its core away; 0: never
 * @param maxBytes the largest all-reduce
 * @param turns all-reduces in a turn
 * @param accounts whether ranks say which thread ran how long
 */
record AmongThreadsPlan(
    Path driver,
    AmongThreadsReport.Algorithm algorithm,
    int ranks,
    int channels,
    int spins,
    long maxBytes,
    int turns,
    boolean accounts) {
  private static final int HANG_SECONDS = 60;

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
                "--ranks",
                Integer.toString(ranks),
                "--algorithm",
                algorithm.word(),
                "--channels",
                Integer.toString(channels),
                "--spins",
                Integer.toString(spins),
                "--max-bytes",
                Long.toString(maxBytes),
                "--turns",
                Integer.toString(turns),
                "--timeout-seconds",
                Integer.toString(HANG_SECONDS),
                "--orders"));
    if (accounts) {
      command.add("--threads");
    }
    return command;
  }

  /** What the driver takes for a turn. */
  String order(long bytes) {
    return bytes + " " + turns;
  }
}
