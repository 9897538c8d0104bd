package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  @Test
  void everyTimeLiesInABucketThatIsNoWiderThanAnEighthOfIt() {
    for (long ns = 1024; ns < 15_000_000_000L; ns += Math.max(1, ns / 97)) {
      int bucket = Latencies.bucket(ns);
      long lower = Latencies.boundNs(bucket - 1);
      long upper = Latencies.boundNs(bucket);
      assertTrue(lower <= ns && ns < upper, ns + " in " + lower + " to " + upper);
      assertTrue((upper - lower) * 8 <= ns, ns + " in " + lower + " to " + upper);
    }
  }

  @Test
  void timesOutsideTheRangeCountInTheOutermostBuckets() {
    assertEquals(0, Latencies.bucket(0));
    assertEquals(0, Latencies.bucket(-5));
    assertEquals(0, Latencies.bucket(1023));
    assertEquals(1, Latencies.bucket(1024));
    assertEquals(Latencies.BUCKETS - 1, Latencies.bucket(60_000_000_000L));
    assertEquals(Latencies.BUCKETS - 1, Latencies.bucket(Long.MAX_VALUE));
  }

  @Test
  void percentilesAreThoseOfTheSortedTimesWithinABucket() {
    Random random = new Random(5);
    long[] times = new long[10_000];
    long[] counts = new long[Latencies.BUCKETS];
    for (int i = 0; i < times.length; i++) {
      times[i] = (long) (2_000 * Math.exp(random.nextGaussian() * 1.5 + 3));
      counts[Latencies.bucket(times[i])]++;
    }
    Arrays.sort(times);
    Latencies latencies = new Latencies(counts);
    assertEquals(times.length, latencies.total());
    for (double part : new double[] {0.5, 0.99, 0.999}) {
      long exact = times[(int) Math.ceil(part * times.length) - 1];
      long reported = latencies.percentileNs(part);
      assertTrue(
          exact <= reported && reported <= exact * 1.13,
          part + ": " + exact + " reported as " + reported);
    }
    assertEquals(Arrays.stream(times).sum(), latencies.sumNs(), 0.02 * latencies.sumNs());
  }

  @Test
  void nothingCountedHasNoPercentile() {
    assertEquals(0, Latencies.none().percentileNs(0.99));
  }

  @Test
  void differenceOfTwoSnapshotsIsTheCountBetweenThem() {
    Latencies before = Latencies.none();
    before.counts()[3] = 5;
    Latencies after = Latencies.none();
    after.counts()[3] = 7;
    after.counts()[9] = 1;
    Latencies between = after.minus(before);
    assertEquals(3, between.total());
    assertEquals(8, between.plus(before).total());
  }
}
