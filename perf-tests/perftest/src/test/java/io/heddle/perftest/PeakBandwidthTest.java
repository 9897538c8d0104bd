package io.heddle.perftest;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class PeakBandwidthTest {
  /* Returns the least time per message by comparing every pair, as perftest does. */
  private static double comparingEveryPair(long[] posted, long[] completed) {
    double least = Double.MAX_VALUE;
    for (int i = 0; i < posted.length; i++) {
      for (int j = i; j < posted.length; j++) {
        least = Math.min(least, (double) (completed[j] - posted[i]) / (j - i + 1));
      }
    }
    return least;
  }

  @Test
  void agreesWithComparisonOfEveryPair() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      int count = 1 + random.nextInt(60);
      long[] posted = new long[count];
      long[] completed = new long[count];
      long now = random.nextInt(1_000_000);
      long done = now;
      for (int i = 0; i < count; i++) {
        now += random.nextInt(500);
        posted[i] = now;
        done = Math.max(done, now) + 1 + random.nextInt(1_000);
        completed[i] = done;
      }
      double expected = comparingEveryPair(posted, completed);
      double found = PeakBandwidth.leastNsPerMessage(posted, completed, count);
      assertEquals(expected, found, expected * 1e-9, "seed " + seed + ", round " + round);
    }
  }

  @Test
  void peakOfNoMessagesIsZero() {
    assertEquals(0, PeakBandwidth.leastNsPerMessage(new long[0], new long[0], 0));
  }
}
