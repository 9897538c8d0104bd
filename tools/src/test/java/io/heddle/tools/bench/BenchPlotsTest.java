package io.heddle.tools.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.bench.contest.Figure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link BenchPlots}. */
class BenchPlotsTest {
  @TempDir private Path folder;

  /*
   * The times of set-up range from less than a millisecond to seconds. In one case memory doesn't
   * grow.
   */
  @Test
  void costsOfAllMagnitudesAreDrawnBesideTheRivals() throws IOException {
    List<Figure> figures = new ArrayList<>();
    for (String cost :
        List.of(
            ": set up", ": a message", ": a processor while idle", ": memory more than without")) {
      for (String at : List.of("1 connections", "512 connections", "16 ranks")) {
        figures.add(new Figure(at + ", Heddle" + cost, "s", 5.04, 4.9, 6));
        figures.add(new Figure(at + ", TCP" + cost, "s", 0.0007, 0, 0.003));
      }
    }
    figures.add(new Figure("1 rank, TCP: memory more than without", "MiB", -0.5, -1, 0));
    List<Path> files =
        BenchPlots.write(folder, List.of(Outcomes.of("scale", figures.toArray(Figure[]::new))));
    assertEquals(4, files.size());
    for (Path file : files) {
      String drawn = Files.readString(file);
      assertTrue(drawn.contains("<svg") && drawn.contains("<path"), file + " is a picture");
    }
  }
}
