package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.ProcessThreads;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Tests of ranks that are stopped, or wait for processors. No plane and no control channel may fail
 * because of that. The hosts have no interfaces except the planes'.
 */
@EndsWithin(300)
@Isolated("it reads the clock")
@SystemTest
final class StarvationTest {
  private static final int STOPPED_SECONDS = 3;
  private static final int BUSY_SECONDS = 10;
  private static final int BUSY_PROCESSES = 20;

  /*
   * Limit of the time to detect a cut, without the time in which the detecting thread waited for a
   * processor. Scheduling affects each measurement, so the fastest of several cuts counts.
   */
  private static final int FOUND_MS = 1_000;
  private static final int CUTS = 5;

  private static final long SOME_BYTES = 1 << 22;

  @TempDir private Path folder;

  @BeforeEach
  void requireBuildOutputs() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  @Test
  void rankStoppedForThreeSecondsLosesNoPlaneChannelOrByte()
      throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      String rank = Long.toString(ranks(demo).getFirst().pid());
      /*
       * Stops the rank repeatedly until its peer logs that the rank is silent on all planes: a stop
       * between two messages has no effect.
       */
      Deadline deadline = Deadline.ofSeconds(60);
      while (lines("is silent on all planes").isEmpty()) {
        assertTrue(!deadline.isOver(), "no line reports the wait");
        run("kill", "-STOP", rank);
        try {
          TimeUnit.SECONDS.sleep(STOPPED_SECONDS);
        } finally {
          run("kill", "-CONT", rank);
        }
        demo.awaitSent("if:e1", SOME_BYTES);
      }
      /* Reads the logs before the demo deletes them at its end. */
      assertEquals(List.of(), lines("moving off"));
      assertEquals(List.of(), lines("channel is replaced"));
      Deadline ending = Deadline.ofSeconds(20);
      while (lines("answers again").isEmpty()) {
        assertTrue(!ending.isOver(), "no line reports the end of the wait");
        TimeUnit.MILLISECONDS.sleep(20);
      }
      demo.assertAllRight();
    }
  }

  @Test
  void starvedRanksFailOverOnlyFromTheCutPlane() throws IOException, InterruptedException {
    try (BusyDemo demo = BusyDemo.start(folder)) {
      List<Process> busy = new ArrayList<>();
      try {
        for (int i = 0; i < BUSY_PROCESSES; i++) {
          busy.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
        }
        TimeUnit.SECONDS.sleep(BUSY_SECONDS);
        assertEquals(0, demo.failovers(), () -> lines("moving off").toString());
        String host = demo.process().namespaces().getFirst();
        filter(host, "add table inet cut");
        filter(host, "add chain inet cut in { type filter hook input priority 0; }");
        List<Detection> found = new ArrayList<>();
        for (int i = 0; i < CUTS; i++) {
          String plane = "e" + (2 + i % 2);
          demo.awaitSent("if:" + plane, SOME_BYTES);
          awaitBack("if:" + plane);
          found.add(cutAndAwaitDetection(demo, host, plane));
          filter(host, "flush chain inet cut in");
        }
        System.out.printf(
            Locale.ROOT,
            "StarvationTest: with %d busy processes cut planes are left after %s%n",
            BUSY_PROCESSES,
            found);
        assertTrue(
            found.stream().anyMatch(each -> each.ownMs <= FOUND_MS),
            () -> "no cut is found within " + FOUND_MS + " ms: " + found);
        assertEquals(
            List.of(),
            lines("moving off").stream()
                .filter(line -> !line.contains("plane if:e2") && !line.contains("plane if:e3"))
                .toList());
        assertEquals(List.of(), lines("channel is replaced"));
      } finally {
        busy.forEach(Process::destroyForcibly);
      }
      demo.assertAllRight();
    }
  }

  /**
   * Detection of a cut.
   *
   * @param ms time from just before the cut to the plugin's warning about it
   * @param ownMs this time, less the time in which the rank's packet thread waited for a processor
   */
  private record Detection(long ms, long ownMs) {
    @Override
    public String toString() {
      return ms + " ms (" + ownMs + ")";
    }
  }

  /*
   * Waits until all connections of every rank use the plane again. A rank logs when its first
   * connection leaves a plane and when the last one returns. A new cut between these two events
   * would not be logged.
   */
  private void awaitBack(String plane) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    while (lines("back on plane " + plane + " ").size()
        < lines("moving off plane " + plane + " ").size()) {
      assertTrue(
          !deadline.isOver(),
          () -> plane + " isn't back everywhere: " + lines("plane " + plane + " "));
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private Detection cutAndAwaitDetection(BusyDemo demo, String host, String plane)
      throws IOException, InterruptedException {
    Map<Long, Long> waitedBefore = waitedMs(demo);
    String cut = "date +%s%3N; nft add rule inet cut in iifname " + plane + " drop";
    String looked = run(atOnce("ip", "netns", "exec", host, "sh", "-ec", cut));
    long beganMs = Long.parseLong(looked.strip());
    Deadline deadline = Deadline.ofSeconds(60);
    Map<Long, Long> left = demo.leftSince("if:" + plane, beganMs);
    while (left.isEmpty()) {
      assertTrue(
          !deadline.isOver(),
          () -> "the cut of " + plane + " isn't found: " + lines("plane if:" + plane + " "));
      TimeUnit.MILLISECONDS.sleep(5);
      left = demo.leftSince("if:" + plane, beganMs);
    }
    Map<Long, Long> waited = waitedMs(demo);
    long ms = Long.MAX_VALUE;
    long ownMs = Long.MAX_VALUE;
    for (Map.Entry<Long, Long> each : left.entrySet()) {
      long tookMs = each.getValue() - beganMs;
      long rank = each.getKey();
      ms = Math.min(ms, tookMs);
      ownMs =
          Math.min(
              ownMs,
              tookMs - (waited.getOrDefault(rank, 0L) - waitedBefore.getOrDefault(rank, 0L)));
    }
    return new Detection(ms, ownMs);
  }

  /*
   * Returns how long each rank's thread heddle-soft0 has waited for a processor, by process ID, as
   * the kernel counts it (Documentation/scheduler/sched-stats.rst).
   */
  private static Map<Long, Long> waitedMs(BusyDemo demo) throws IOException {
    Map<Long, Long> waited = new TreeMap<>();
    for (ProcessHandle rank : ranks(demo)) {
      String pid = Long.toString(rank.pid());
      ProcessThreads.read(pid, "heddle-soft0", "schedstat")
          .map(counters -> Long.parseLong(counters.strip().split(" ")[1]))
          .ifPresent(waitedNs -> waited.put(rank.pid(), TimeUnit.NANOSECONDS.toMillis(waitedNs)));
    }
    return waited;
  }

  private static List<ProcessHandle> ranks(BusyDemo demo) {
    String program = BuildOutputs.allReduce().getFileName().toString();
    List<ProcessHandle> found =
        demo.process().descendants().stream()
            .filter(each -> each.info().command().orElse("").endsWith("/" + program))
            .toList();
    assertEquals(2, found.size(), () -> "ranks among " + demo.process().descendants());
    return found;
  }

  /** Returns the ranks' log lines that contain this text. */
  private List<String> lines(String part) {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".log")).toList()) {
        Files.readAllLines(file).stream().filter(line -> line.contains(part)).forEach(found::add);
      }
    } catch (IOException unreadable) {
      throw new AssertionError(unreadable);
    }
    return found;
  }

  private static void filter(String namespace, String words)
      throws IOException, InterruptedException {
    run(atOnce("ip", "netns", "exec", namespace, "nft", words));
  }

  /*
   * Returns the command with real-time priority, so that it doesn't wait for a processor. A failure
   * of a real link doesn't wait either.
   */
  private static String[] atOnce(String... words) {
    return Stream.concat(Stream.of("chrt", "-f", "1"), Stream.of(words)).toArray(String[]::new);
  }

  private static String run(String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(words));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), command + ": " + output);
    return output;
  }
}
