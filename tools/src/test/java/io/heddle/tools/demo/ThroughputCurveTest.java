package io.heddle.tools.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ThroughputCurveTest {
  private static final double BIN = 0.1;

  @TempDir private Path folder;

  /*
   * Returns the curve of two planes of 50 MB/s each. The second plane is cut from second 1 to 2.
   * The first one stops for 0.3 s after the cut.
   */
  private static ThroughputCurve cutAndReturn() {
    ShareSamples samples = new ShareSamples();
    long first = 0;
    long second = 0;
    for (int step = 0; step <= 30; step++) {
      samples.add(100 + step * BIN, List.of(first, second));
      first += step >= 10 && step < 13 ? 0 : 5_000_000;
      second += step >= 10 && step < 20 ? 0 : 5_000_000;
    }
    return ThroughputCurve.of(samples, 2, BIN, 10);
  }

  @Test
  void ratesFollowTheCounters() {
    ThroughputCurve curve = cutAndReturn();
    assertEquals(30, curve.seconds().size());
    assertEquals(100, curve.mean(0, 1), 0.01);
    assertEquals(0, curve.mean(1, 1.3), 0.01);
    assertEquals(50, curve.mean(1.3, 2), 0.01);
    assertEquals(100, curve.mean(2, 3), 0.01);
  }

  @Test
  void recoveryIsTheTimeFromTheCutToTheSteadyRate() {
    ThroughputCurve curve = cutAndReturn();
    Double after = curve.reachedAfter(1, 45, 0.3);
    assertNotNull(after);
    assertEquals(0.3, after, 0.01);
    assertNull(curve.reachedAfter(1, 200, 0.3));
    Double used = curve.usedAfter(1.05, 1);
    assertNotNull(used);
    assertEquals(0.95, used, 0.01);
  }

  @Test
  void sparklineHasAMarkAtTheCut() {
    String line = cutAndReturn().sparkline(30, List.of(new ThroughputCurve.Mark(1.01, "x", "cut")));
    assertEquals(31, line.length());
    assertEquals("████████████████████", line.substring(0, 10) + line.substring(21));
    assertEquals("x   ", line.substring(10, 14));
  }

  @Test
  void plotShowsTheCutAndTheRestoration() throws IOException {
    String without = plot(List.of());
    String with =
        plot(
            List.of(
                new ThroughputCurve.Mark(1, "x", "cut"), new ThroughputCurve.Mark(2, "^", "back")));
    assertTrue(without.contains("<svg"), without);
    /* Each mark adds a line and the outlines of letters to the plot. */
    assertTrue(
        elements(with) >= elements(without) + 4, elements(with) + " and " + elements(without));
  }

  private static long elements(String svg) {
    return svg.chars().filter(each -> each == '<').count();
  }

  private String plot(List<ThroughputCurve.Mark> marks) throws IOException {
    Path file = folder.resolve("plot.svg");
    try {
      ThroughputPlot.write(file, "plane 2 cut", cutAndReturn(), marks);
    } catch (HeddleException cannotDraw) {
      Skip.because(cannotDraw.getMessage());
    }
    return Files.readString(file);
  }
}
