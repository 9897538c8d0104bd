package io.heddle.tools;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What the ranks are to do.
 *
 * @param driver the C program
 * @param plugin the plugin that it loads
 * @param folder where ranks find each other and logs go
 * @param devices how many carry it, each its share
 * @param timeoutSeconds silence after which a run counts as hung
 * @param environment variables for every rank
 */
record AllReducePlan(
    Path driver,
    Path plugin,
    Path folder,
    long minBytes,
    long maxBytes,
    int iterations,
    int devices,
    long timeoutSeconds,
    Map<String, String> environment) {
  List<String> command(int rank, int ranks) {
    return List.of(
        driver.toString(),
        "--plugin",
        plugin.toString(),
        "--rank",
        Integer.toString(rank),
        "--ranks",
        Integer.toString(ranks),
        "--rendezvous",
        folder.toString(),
        "--min-bytes",
        Long.toString(minBytes),
        "--max-bytes",
        Long.toString(maxBytes),
        "--iterations",
        Integer.toString(iterations),
        "--devices",
        Integer.toString(devices),
        "--timeout-seconds",
        Long.toString(timeoutSeconds));
  }

  /** How many sizes there are from the least to the most, doubling. */
  int sizes() {
    int sizes = 0;
    for (long bytes = minBytes; bytes <= maxBytes; bytes *= 2) {
      sizes++;
    }
    return sizes;
  }
}
