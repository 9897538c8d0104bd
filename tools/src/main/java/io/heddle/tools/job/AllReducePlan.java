package io.heddle.tools.job;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Plan of an all-reduce run.
 *
 * @param driver path of the C driver, the program of each rank
 * @param plugin path of the plugin that the driver loads
 * @param folder folder for the ranks' rendezvous and logs
 * @param devices number of network devices that share the load
 * @param environment environment variables of every rank
 * @param watched settings of a run that repeats its sizes until it is told to end; null for a run
 *     that ends by itself
 */
public record AllReducePlan(
    Path driver,
    Path plugin,
    Path folder,
    Sizes sizes,
    int devices,
    Map<String, String> environment,
    @Nullable Watched watched) {
  /**
   * Sizes of the all-reduces and iterations per size.
   *
   * @param maxBytes largest size; each size is twice the previous one
   * @param timeoutSeconds time without a report after which a run counts as hung
   */
  public record Sizes(long minBytes, long maxBytes, int iterations, long timeoutSeconds) {
    public Sizes withSingleSize(long bytes, int times) {
      return new Sizes(bytes, bytes, times, timeoutSeconds);
    }

    /** Returns the number of sizes. */
    public int count() {
      int count = 0;
      for (long bytes = minBytes; bytes <= maxBytes; bytes *= 2) {
        count++;
      }
      return count;
    }
  }

  /**
   * Settings of a run that another thread observes and ends.
   *
   * @param until file whose appearance ends the run
   * @param records records that the ranks write
   */
  public record Watched(Path until, Records records) {
    /**
     * Lets the ranks end after their current all-reduce. Idempotent.
     *
     * @throws HeddleException if the file can't be created
     */
    public void end() {
      try {
        if (!Files.exists(until)) {
          Files.createFile(until);
        }
      } catch (IOException failed) {
        throw new HeddleException("can't signal the ranks to end: " + failed, failed);
      }
    }
  }

  /** Records that the ranks write during an observed run. */
  public enum Records {
    NOTHING,
    /** File with the completion time of each send. */
    COMPLETIONS,
    /**
     * File with the completion time of each send. In addition, the plugin writes timestamped traces
     * to the ranks' logs.
     */
    COMPLETIONS_AND_TRACES
  }

  /** Returns the file of a rank's completions. */
  public Path completions(int rank) {
    return folder.resolve("rank-" + rank + ".completions");
  }

  /** Returns the log file of a rank. */
  public Path log(int rank) {
    return folder.resolve("rank-" + rank + ".log");
  }

  List<String> command(int rank, int ranks) {
    List<String> words = new ArrayList<>(common(rank, ranks));
    Watched by = watched;
    if (by != null) {
      words.addAll(List.of("--until", by.until().toString()));
      if (by.records() != Records.NOTHING) {
        words.addAll(List.of("--completions", completions(rank).toString()));
      }
      if (by.records() == Records.COMPLETIONS_AND_TRACES) {
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
        Long.toString(sizes.minBytes()),
        "--max-bytes",
        Long.toString(sizes.maxBytes()),
        "--iterations",
        Integer.toString(sizes.iterations()),
        "--devices",
        Integer.toString(devices),
        "--timeout-seconds",
        Long.toString(sizes.timeoutSeconds()));
  }
}
