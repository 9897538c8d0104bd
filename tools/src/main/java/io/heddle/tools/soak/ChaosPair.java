package io.heddle.tools.soak;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RankProcess;
import java.io.IOException;
import java.nio.file.Files;
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
 * Pair of chaos driver processes, one on each host, that execute one run after another. A new
 * process replaces a killed rank.
 */
final class ChaosPair implements AutoCloseable {
  static final int RANKS = 2;

  /** Seconds without progress after which a rank reports a hang. */
  static final int HANG_SECONDS = 25;

  private static final long END_SECONDS = 10;

  /**
   * Programs of the ranks.
   *
   * @param environment environment variables of the driver, in addition to those of a run's setting
   */
  record Programs(Path plugin, Path driver, Map<String, String> environment) {}

  private final ChaosNetwork network;
  private final Programs programs;
  private final Map<String, String> environment;
  private final Path folder;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final BlockingQueue<JsonNode> reports = new LinkedBlockingQueue<>();
  private int started;

  ChaosPair(ChaosNetwork network, ChaosSetting setting, Programs programs, Path folder)
      throws IOException {
    this.network = network;
    this.programs = programs;
    this.environment = setting.environment();
    this.folder = folder;
    Files.createDirectories(folder);
    for (int rank = 0; rank < RANKS; rank++) {
      ranks.add(start(rank));
    }
  }

  private RankProcess start(int rank) throws IOException {
    Map<String, String> all = new LinkedHashMap<>(network.lab().environment(rank));
    all.putAll(programs.environment());
    all.putAll(environment);
    all.put("HEDDLE_STATS_DIR", folder.toString());
    List<String> command =
        List.of(
            programs.driver().toString(),
            "--plugin",
            programs.plugin().toString(),
            "--rank",
            Integer.toString(rank),
            "--timeout-seconds",
            Integer.toString(HANG_SECONDS));
    return RankProcess.start(
        rank,
        network.lab().command(rank, command),
        all,
        folder.resolve("rank-" + rank + "." + ++started + ".log"),
        line -> reports.add(read(line)));
  }

  private static JsonNode read(String line) {
    try {
      return Json.mapper().readTree(line);
    } catch (JsonProcessingException notJson) {
      return Json.mapper().createObjectNode().put("event", "unknown").put("line", line);
    }
  }

  Path folder() {
    return folder;
  }

  /** Returns the next report of a rank, or null on timeout. */
  @Nullable JsonNode report(long timeoutMs) throws InterruptedException {
    return reports.poll(timeoutMs, TimeUnit.MILLISECONDS);
  }

  boolean isAlive(int rank) {
    return ranks.get(rank).isAlive();
  }

  RankProcess rank(int rank) {
    return ranks.get(rank);
  }

  /** Sends a command line to a rank. Has no effect if the rank has ended. */
  void sendLine(int rank, String line) {
    try {
      ranks.get(rank).sendLine(line);
    } catch (IOException ended) {
      /* The rank has ended; its exit code tells the reason. */
    }
  }

  void signal(int rank, String name) {
    if (!isAlive(rank)) {
      return;
    }
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(ranks.get(rank).pid()))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException failed) {
      throw new HeddleException("can't start kill: " + failed.getMessage(), failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Kills a rank with SIGKILL. */
  void kill(int rank) {
    ranks.get(rank).close();
  }

  /** Replaces an ended rank by a new process. */
  void replace(int rank) throws IOException, InterruptedException {
    ranks.get(rank).exitCode();
    ranks.set(rank, start(rank));
  }

  /**
   * Ends both ranks cleanly.
   *
   * @return description of an unclean end; null for a clean end
   */
  @Nullable String finish() throws InterruptedException {
    for (RankProcess rank : ranks) {
      rank.endInput();
    }
    for (RankProcess rank : ranks) {
      if (!rank.awaitEnd(END_SECONDS)) {
        return "rank " + rank.rank() + " does not end";
      }
      int code = rank.exitCode();
      if (code != 0) {
        return "rank " + rank.rank() + " ended with " + RankProcess.describeExit(code);
      }
    }
    return null;
  }

  /** Returns the ranks' warnings and errors among their last log lines, as text. */
  String lastLogLines() {
    StringBuilder text = new StringBuilder();
    for (RankProcess rank : ranks) {
      text.append("\n  rank ").append(rank.rank()).append(':');
      for (String line : rank.lastLines()) {
        if (line.contains("WARN") || line.contains("WRONG") || !line.contains("NCCL")) {
          text.append("\n    ").append(line);
        }
      }
    }
    return text.toString();
  }

  /** Kills the running ranks, including stopped ones. */
  @Override
  public void close() {
    ranks.forEach(RankProcess::close);
  }
}
