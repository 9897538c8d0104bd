package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.Deadline;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Demo of two hosts with three planes, which runs until the test ends it, with access to its ranks'
 * statistics. Planes have the plugin's keys: {@code if:e1} and so on.
 */
final class BusyDemo implements AutoCloseable {
  static final int PLANES = 3;

  private static final long LIMIT_SECONDS = 60;
  private static final long END_SECONDS = 200;
  private static final long SOME_BYTES = 1 << 24;

  private final Path folder;
  private final Path endFile;
  private final DemoProcess process;
  private final List<Path> statistics;

  private BusyDemo(List<String> before, Path folder, String policy)
      throws IOException, InterruptedException {
    this.folder = folder;
    endFile = folder.resolve("enough");
    process =
        DemoProcess.startBehind(
            before,
            folder,
            "--json",
            "--policy",
            policy,
            "--network",
            "namespaces",
            "--planes",
            Integer.toString(PLANES),
            "--min-bytes",
            "4M",
            "--max-bytes",
            "4M",
            "--until",
            endFile.toString(),
            /* On a busy machine a rank may be silent for long while it waits for a processor. */
            "--timeout",
            Long.toString(END_SECONDS));
    try {
      statistics = awaitStatistics();
    } catch (AssertionError | IOException | InterruptedException failed) {
      process.close();
      throw failed;
    }
  }

  /** Starts a demo and waits until every plane carries its messages. */
  static BusyDemo start(Path folder) throws IOException, InterruptedException {
    return start(folder, "spray");
  }

  /** Starts a demo with this spray policy. */
  static BusyDemo start(Path folder, String policy) throws IOException, InterruptedException {
    return new BusyDemo(List.of(), folder, policy);
  }

  /** Starts a demo with private shared memory, which hides all other jobs of this machine. */
  static BusyDemo startAlone(Path folder) throws IOException, InterruptedException {
    return new BusyDemo(
        MountNamespace.with("mount -t tmpfs heddle-test /dev/shm"), folder, "spray");
  }

  private List<Path> awaitStatistics() throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (true) {
      try (Stream<Path> files = Files.walk(folder)) {
        List<Path> found = files.filter(file -> file.toString().endsWith(".stats")).toList();
        if (found.size() == 2 && everyPlaneCarries(found)) {
          return found;
        }
      } catch (UncheckedIOException changing) {
        /*
         * A statistics file was created or deleted during the listing, so the loop lists the files
         * again.
         */
      }
      assertTrue(
          !deadline.isOver(),
          () -> "no traffic within " + LIMIT_SECONDS + " s: " + process.outputOrWhyNot());
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private static boolean everyPlaneCarries(List<Path> files) {
    for (int plane = 1; plane <= PLANES; plane++) {
      if (sent(files, "if:e" + plane) < SOME_BYTES) {
        return false;
      }
    }
    return true;
  }

  private static long sent(List<Path> files, String plane) {
    return files.stream()
        .flatMap(file -> StatsReader.snapshot(file).rows().stream())
        .filter(ProcessStats.Row::open)
        .filter(row -> row.planeKey().equals(plane))
        .mapToLong(row -> row.acknowledgedBytes())
        .sum();
  }

  DemoProcess process() {
    return process;
  }

  /** Returns the folder of both ranks' statistics. */
  Path statisticsFolder() {
    return statistics.getFirst().toAbsolutePath().getParent();
  }

  /** Returns the bytes that both ranks have sent over a plane so far. */
  long sent(String plane) {
    return sent(statistics, plane);
  }

  /** Waits until a plane has carried this many more bytes than at the call. */
  void awaitSent(String plane, long more) throws InterruptedException {
    long goal = sent(plane) + more;
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (sent(plane) < goal) {
      assertTrue(
          !deadline.isOver(),
          () ->
              "no more bytes on "
                  + plane
                  + " within "
                  + LIMIT_SECONDS
                  + " s: "
                  + process.outputOrWhyNot());
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /** Returns the number of failovers of a plane so far, summed over all connections. */
  long failovers() {
    return statistics.stream()
        .flatMap(file -> StatsReader.snapshot(file).rows().stream())
        .mapToLong(ProcessStats.Row::failovers)
        .sum();
  }

  /**
   * Returns the time at which each rank failed over from a plane, by process ID, in milliseconds
   * since 1970. Reads the warnings that the plugins have recorded since the given time.
   */
  Map<Long, Long> leftSince(String plane, long sinceMs) {
    Map<Long, Long> left = new TreeMap<>();
    for (Path file : statistics) {
      ProcessStats stats = StatsReader.snapshot(file);
      for (ProcessStats.DistinctError error : stats.errors()) {
        if (error.sentence().contains("moving off plane " + plane + " ")
            && error.lastMs() >= sinceMs) {
          left.put(stats.processId(), error.lastMs());
        }
      }
    }
    return left;
  }

  /** Ends the demo. Asserts that it succeeds and that every element of its results is right. */
  void assertAllRight() throws IOException, InterruptedException {
    Files.createFile(endFile);
    assertEquals(0, process.exitCode(END_SECONDS), process.output());
    JsonNode report = process.json();
    assertTrue(report.path("passed").asBoolean(), process.output());
    assertEquals(0, report.path("wrong").asLong(-1), process.output());
  }

  @Override
  public void close() throws InterruptedException {
    process.close();
  }
}
