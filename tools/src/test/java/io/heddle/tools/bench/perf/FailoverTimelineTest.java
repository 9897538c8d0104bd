package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.HeddleException;
import io.heddle.tools.job.AllReducePlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link FailoverTimeline} and {@link Completions} on files as ranks write them. */
class FailoverTimelineTest {
  @TempDir private Path folder;

  private AllReducePlan plan() {
    return new AllReducePlan(
        Path.of("driver"),
        Path.of("plugin.so"),
        folder,
        new AllReducePlan.Sizes(8, 8, 1, 10),
        1,
        Map.of(),
        null);
  }

  private static Completions every5ms(double from, double to, double gapAt, double gap) {
    double[] seconds = new double[(int) Math.round((to - from) / 0.005)];
    double time = from;
    for (int i = 0; i < seconds.length; i++) {
      time += Math.abs(time - gapAt) < 1e-6 ? gap : 0.005;
      seconds[i] = time;
    }
    return new Completions(seconds, new long[seconds.length]);
  }

  @Test
  void linesOfAllRanksAreSortedByTimeAroundTheEvent() throws IOException {
    Files.writeString(
        plan().log(0),
        """
        99.940000 too early
        99.960000 INFO calm
        not timed at all
        100.300000 plane 2 is down
        100.760000 too late
        """);
    Files.writeString(plan().log(1), "100.100000 plane 2 does not answer\n");
    Completions busy = every5ms(99, 100.5, -1, 0);
    Completions still = every5ms(99, 100.5, 100, 0.25);
    assertEquals(
        """
          -40.00  INFO calm
            0.00  the command that causes the event starts
            2.00  the command that causes the event has ended
          100.00  plane 2 does not answer
          250.00  rank 1: a send completes, the first for 250.0 ms
          300.00  plane 2 is down

        """,
        FailoverTimeline.of(plan(), 2, 100, 100.002, List.of(busy, still)));
  }

  @Test
  void completionsAreSummedUp() throws IOException {
    Path file = Files.writeString(folder.resolve("completions"), "1.5 100\n1.75 50\n3 7\n");
    Completions done = Completions.read(file);
    assertArrayEquals(new double[] {1.5, 1.75, 3}, done.seconds());
    assertEquals(0, done.bytesAt(1.49));
    assertEquals(100, done.bytesAt(1.5), "including the one at that time");
    assertEquals(150, done.bytesAt(2.9));
    assertEquals(157, done.bytesAt(100));
  }

  @Test
  void truncatedLineIsNotACompletion() throws IOException {
    Path file = Files.writeString(folder.resolve("completions"), "1.5 100\n1.75\n");
    HeddleException refused = assertThrows(HeddleException.class, () -> Completions.read(file));
    assertEquals(file + ", line 2: '1.75' is not a completion", refused.getMessage());
  }

  @Test
  void gapsAcrossTheBordersCount() {
    Completions done = new Completions(new double[] {1, 2, 2.5, 6}, new long[4]);
    assertEquals(new Completions.Gap(1, 2), done.longestGap(1.5, 2.4, 10));
    assertEquals(new Completions.Gap(2.5, 6), done.longestGap(2, 3, 10), "to its end, after 3");
    assertEquals(new Completions.Gap(2.5, 5), done.longestGap(2, 3, 5), "the limit ends it");
    assertEquals(new Completions.Gap(6, 9), done.longestGap(6.5, 7, 9), "none ended it");
  }
}
