package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RankProcess;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ranks of one driver program, one on each host of a lab. A rank's output is read line by line. If
 * a rank fails, each wait for any rank throws an exception that describes the failed rank's end.
 */
final class DriverRanks implements AutoCloseable {
  private static final long POLL_MS = 200;

  /** Seconds in which a rank must end after it has closed its standard input. */
  private static final long END_SECONDS = 5;

  private final String name;
  private final RunFolder folder;
  private final Runnable onIdle;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final List<BlockingQueue<String>> lines = new ArrayList<>();
  private volatile long lastLineNs = System.nanoTime();

  /**
   * Starts the ranks. Their logs and statistics are in a folder that is deleted on close, unless a
   * rank fails.
   *
   * @param name prefix of failure messages
   * @param options options of the driver, in addition to those that every driver has
   * @param onIdle called a few times a second while a method waits
   */
  DriverRanks(
      String name,
      Lab lab,
      int count,
      Path driver,
      Path plugin,
      List<String> options,
      Map<String, String> environment,
      Runnable onIdle)
      throws IOException {
    this.name = name;
    this.folder = new RunFolder();
    this.onIdle = onIdle;
    try {
      for (int rank = 0; rank < count; rank++) {
        Map<String, String> all = new LinkedHashMap<>(lab.environment(rank));
        all.put("HEDDLE_STATS_DIR", folder.path().toString());
        all.putAll(environment);
        List<String> command = new ArrayList<>();
        command.add(driver.toString());
        command.add("--plugin=" + plugin);
        command.add("--rendezvous=" + folder.path());
        command.add("--rank=" + rank);
        command.addAll(options);
        BlockingQueue<String> own = new LinkedBlockingQueue<>();
        lines.add(own);
        ranks.add(
            RankProcess.start(
                rank,
                lab.command(rank, command),
                all,
                folder.path().resolve("rank-" + rank + ".log"),
                line -> addLine(own, line)));
      }
    } catch (IOException cannotStart) {
      close();
      throw cannotStart;
    }
  }

  private void addLine(BlockingQueue<String> own, String line) {
    lastLineNs = System.nanoTime();
    own.add(line);
  }

  /** Returns the folder of the ranks' logs. */
  Path folder() {
    return folder.path();
  }

  List<Long> pids() {
    return ranks.stream().map(RankProcess::pid).toList();
  }

  /** Writes a line to the standard input of each rank. */
  void sendLine(String line) throws InterruptedException {
    for (RankProcess rank : ranks) {
      try {
        rank.sendLine(line);
      } catch (IOException ended) {
        if (rank.awaitEnd(END_SECONDS)) {
          throw rankEnded(List.of(rank));
        }
        throw failure(rank.rank(), "has closed its standard input");
      }
    }
  }

  /** Closes the standard input of each rank. */
  void endInput() {
    ranks.forEach(RankProcess::endInput);
  }

  /**
   * Waits for the next line of a rank.
   *
   * @param quietSeconds seconds without a line of any rank after which the ranks count as hung
   * @throws HeddleException if the rank has ended, another rank has failed, or the ranks hang
   */
  String next(int rank, long quietSeconds) throws InterruptedException {
    long start = System.nanoTime();
    while (Math.min(System.nanoTime() - start, System.nanoTime() - lastLineNs)
        < TimeUnit.SECONDS.toNanos(quietSeconds)) {
      String line = lines.get(rank).poll(POLL_MS, TimeUnit.MILLISECONDS);
      if (line != null) {
        return line;
      }
      failIfOneHasFailed();
      if (!ranks.get(rank).isAlive()) {
        /* Waits until all lines of the ended rank have been read. */
        ranks.get(rank).exitCode();
        @Nullable String left = lines.get(rank).poll();
        if (left != null) {
          return left;
        }
        throw rankEnded(List.of(ranks.get(rank)));
      }
      onIdle.run();
    }
    throw failure(rank, "reported nothing for " + quietSeconds + " s");
  }

  /**
   * Waits until all ranks have ended. A rank that makes no progress ends by itself.
   *
   * @throws HeddleException if a rank has failed
   */
  void awaitEnd() throws InterruptedException {
    while (ranks.stream().anyMatch(RankProcess::isAlive)) {
      failIfOneHasFailed();
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      onIdle.run();
    }
    failIfOneHasFailed();
  }

  /**
   * Waits for the next line of a rank, which must be an event in JSON.
   *
   * @param kinds kinds of event that may come
   */
  JsonNode event(int rank, long quietSeconds, String... kinds) throws InterruptedException {
    String line = next(rank, quietSeconds);
    JsonNode event = event(line);
    if (event == null || !List.of(kinds).contains(event.path("event").asText())) {
      throw failure(
          rank, "printed an unexpected line instead of " + String.join(", ", kinds) + ": " + line);
    }
    return event;
  }

  /** Returns the event in a line; null if there is none. */
  static @Nullable JsonNode event(String line) {
    try {
      JsonNode event = Json.mapper().readTree(line);
      return event.has("event") ? event : null;
    } catch (JsonProcessingException notJson) {
      return null;
    }
  }

  /** Returns the lines of an ended rank that {@link #next} hasn't returned. */
  List<String> unreadLines(int rank) {
    return List.copyOf(lines.get(rank));
  }

  private void failIfOneHasFailed() throws InterruptedException {
    List<RankProcess> failed = new ArrayList<>();
    for (RankProcess rank : ranks) {
      if (!rank.isAlive() && rank.exitCode() != 0) {
        failed.add(rank);
      }
    }
    if (!failed.isEmpty()) {
      throw rankEnded(failed);
    }
  }

  /*
   * Returns an exception that names all failed ranks, since the failure of one may have caused the
   * others.
   */
  private HeddleException rankEnded(List<RankProcess> failed) throws InterruptedException {
    List<String> ends = new ArrayList<>();
    for (RankProcess rank : failed) {
      ends.add("rank " + rank.rank() + " " + rank.end());
    }
    return withLogs(String.join(", ", ends), failed);
  }

  HeddleException failure(int rank, String what) {
    return withLogs("rank " + rank + " " + what, List.of(ranks.get(rank)));
  }

  private HeddleException withLogs(String what, List<RankProcess> of) {
    folder.keep();
    StringBuilder text = new StringBuilder(name + ": " + what);
    text.append(" (all logs are in ").append(folder.path()).append(')');
    for (RankProcess rank : of) {
      List<String> log = rank.lastLines();
      if (log.isEmpty()) {
        text.append("\nrank ").append(rank.rank()).append(" logged nothing");
      } else {
        text.append("\nrank ").append(rank.rank()).append("'s last log lines:");
        log.forEach(line -> text.append("\n    ").append(line));
      }
    }
    return new HeddleException(text.toString());
  }

  /** Kills the ranks that still run. */
  @Override
  public void close() throws IOException {
    ranks.forEach(RankProcess::close);
    folder.close();
  }
}
