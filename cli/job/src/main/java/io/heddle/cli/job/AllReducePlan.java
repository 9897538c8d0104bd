package io.heddle.cli.job;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
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
 * @param environment variables for every rank
 * @param watched null for a run that nobody watches
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
   * What is reduced, how often.
   *
   * @param maxBytes the last of the sizes that double
   * @param timeoutSeconds silence after which a run counts as hung
   */
  public record Sizes(long minBytes, long maxBytes, int iterations, long timeoutSeconds) {
    public Sizes only(long bytes, int times) {
      return new Sizes(bytes, bytes, times, timeoutSeconds);
    }

    /** How many there are. */
    public int count() {
      int count = 0;
      for (long bytes = minBytes; bytes <= maxBytes; bytes *= 2) {
        count++;
      }
      return count;
    }
  }

  /**
   * What a run is asked for that is watched from outside.
   *
   * @param until a file whose appearance ends the run
   * @param kept what the ranks note meanwhile
   */
  public record Watched(Path until, Kept kept) {
    /**
     * Ends the ranks after the all-reduce that they are in; once is enough.
     *
     * @throws HeddleException where the file can't be made
     */
    public void end() {
      try {
        if (!Files.exists(until)) {
          Files.createFile(until);
        }
      } catch (IOException failed) {
        throw new HeddleException("the ranks can't be told to end: " + failed, failed);
      }
    }
  }

  /** What watched ranks note for whoever asks afterwards. */
  public enum Kept {
    NOTHING,
    /** When each send was done. */
    COMPLETIONS,
    /** That, and in their logs all that the plugin traces, with the time. */
    COMPLETIONS_AND_TRACES
  }

  /** Where a rank that keeps its completions leaves them. */
  public Path completions(int rank) {
    return folder.resolve("rank-" + rank + ".completions");
  }

  /** Where a rank's log is. */
  public Path log(int rank) {
    return folder.resolve("rank-" + rank + ".log");
  }

  List<String> command(int rank, int ranks) {
    List<String> words = new ArrayList<>(common(rank, ranks));
    Watched by = watched;
    if (by != null) {
      words.addAll(List.of("--until", by.until().toString()));
      if (by.kept() != Kept.NOTHING) {
        words.addAll(List.of("--completions", completions(rank).toString()));
      }
      if (by.kept() == Kept.COMPLETIONS_AND_TRACES) {
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
