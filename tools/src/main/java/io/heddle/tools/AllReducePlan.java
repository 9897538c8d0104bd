package io.heddle.tools;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the ranks are to do.
 *
 * @param driver the C program
 * @param plugin the plugin that it loads
 * @param folder where ranks find each other and logs go
 * @param devices how many carry it, each its share
 * @param timeoutSeconds silence after which a run counts as hung
 * @param environment variables for every rank
 * @param watched null for a run that nobody watches
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
    Map<String, String> environment,
    @Nullable Watched watched) {
  /**
   * What a run is asked for that is watched from outside.
   *
   * @param until a file whose appearance ends the run
   * @param traces whether the ranks' logs have all that the plugin traces, with the time
   */
  record Watched(Path until, boolean traces) {}

  AllReducePlan(
      Path driver,
      Path plugin,
      Path folder,
      long minBytes,
      long maxBytes,
      int iterations,
      int devices,
      long timeoutSeconds,
      Map<String, String> environment) {
    this(
        driver,
        plugin,
        folder,
        minBytes,
        maxBytes,
        iterations,
        devices,
        timeoutSeconds,
        environment,
        null);
  }

  /** Where a watched rank leaves its completions. */
  Path completions(int rank) {
    return folder.resolve("rank-" + rank + ".completions");
  }

  /** Where a rank's log is. */
  Path log(int rank) {
    return folder.resolve("rank-" + rank + ".log");
  }

  List<String> command(int rank, int ranks) {
    List<String> words = new ArrayList<>(common(rank, ranks));
    Watched by = watched;
    if (by != null) {
      words.addAll(List.of("--until", by.until().toString()));
      words.addAll(List.of("--completions", completions(rank).toString()));
      if (by.traces()) {
        words.add("--trace");
      }
    }
    return words;
  }

  private List<String> common(int rank, int ranks) {
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
