package io.heddle.tools.bench.perf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Settings of the ranks, which are the same for each contestant.
 *
 * @param driver program of the ranks
 * @param spins number of empty polls after which the thread that stands for the GPU's kernels
 *     yields its core; 0 for never
 * @param maxBytes size of the largest all-reduce
 * @param turns number of all-reduces in a turn
 * @param accounts whether ranks report the scheduler statistics of each thread
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

  /** Returns the line that tells the driver to run a turn. */
  String requestLine(long bytes) {
    return bytes + " " + turns;
  }
}
