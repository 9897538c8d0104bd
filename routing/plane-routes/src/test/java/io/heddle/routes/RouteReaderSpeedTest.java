package io.heddle.routes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of look-ups in a large file: 400,000 destinations, four planes. */
class RouteReaderSpeedTest {
  private static final int DESTINATIONS = 400_000;
  private static final int LOOKUPS = 1_000_000;
  private static final int ROUNDS = 12;

  /*
   * Limit of a look-up's time. The target on an idle machine is 200 ns; the limit is ten times as
   * high, since other tests run at the same time.
   */
  private static final long LIMIT_NS = 2_000;

  @TempDir Path folder;

  @Test
  void lookUpAmong400000DestinationsIsFastAndAllocatesNothing() throws Exception {
    try (RoutesTestBed bed = RoutesTestBed.of(folder, "a", "b", "c", "d")) {
      long start = System.nanoTime();
      bed.publisher.begin();
      for (int plane = 0; plane < 4; plane++) {
        bed.publisher.set(0xfd00_0000_0000_0000L, 0, 16, plane, cell(plane));
      }
      for (int host = 0; host < DESTINATIONS; host++) {
        for (int plane = 0; plane < 4; plane++) {
          bed.publisher.set(high(host), 1, 128, plane, cell(host + plane));
        }
      }
      bed.publisher.commit();
      long filled = System.nanoTime() - start;
      try (RouteReader reader = bed.reader()) {
        long best = Long.MAX_VALUE;
        long allocated = Long.MAX_VALUE;
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        RouteAnswer answer = new RouteAnswer();
        int[] hosts = new SplittableRandom(3).ints(LOOKUPS, 0, DESTINATIONS).toArray();
        for (int round = 0; round < ROUNDS; round++) {
          long before = threads.getCurrentThreadAllocatedBytes();
          best = Math.min(best, lookUps(reader, answer, hosts));
          allocated = Math.min(allocated, threads.getCurrentThreadAllocatedBytes() - before);
        }
        System.out.printf(
            Locale.ROOT,
            "%,d destinations × 4 planes: filled in %d ms, file of %.1f MB, look-up %d ns%n",
            DESTINATIONS,
            filled / 1_000_000,
            Files.size(bed.path) / 1e6,
            best / LOOKUPS);
        assertTrue(best / LOOKUPS < LIMIT_NS, best / LOOKUPS + " ns a look-up");
        assertEquals(0, allocated, "bytes allocated");
      }
    }
  }

  private static long lookUps(RouteReader reader, RouteAnswer answer, int[] hosts) {
    long start = System.nanoTime();
    for (int host : hosts) {
      if (!reader.resolve(high(host), 1, answer) || answer.cells[3] != cell(host + 3)) {
        throw new AssertionError("host " + host);
      }
    }
    return System.nanoTime() - start;
  }

  private static long high(int host) {
    return 0xfd00_0009_0000_0000L | host;
  }

  private static int cell(int value) {
    return RouteCell.of(WeightReason.PATH_BANDWIDTH, 1 + value);
  }
}
