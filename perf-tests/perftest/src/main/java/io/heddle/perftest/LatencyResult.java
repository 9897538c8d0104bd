package io.heddle.perftest;

import java.util.Arrays;
import java.util.List;

/**
 * Measurement of a ping-pong: halves of round trips, in microseconds.
 *
 * @param iterations number of measured rounds
 * @param typicalUs the median
 * @param perSecond rounds per second
 * @param values every half round trip in order of time; empty in a test with a duration
 */
record LatencyResult(
    long sizeBytes,
    long iterations,
    double leastUs,
    double mostUs,
    double typicalUs,
    double averageUs,
    double deviationUs,
    double percentile99Us,
    double percentile999Us,
    double perSecond,
    double[] values,
    Distribution distribution) {
  /* perftest excludes the two longest rounds from all figures except the maximum. */
  private static final int TAIL = 2;
  private static final double HALF_NS_PER_US = 2_000.0;

  /**
   * Returns the result of a test with a fixed number of rounds, as perftest computes it.
   *
   * @param postedNs time of each message's post
   */
  static LatencyResult of(long sizeBytes, long[] postedNs) {
    int rounds = postedNs.length - 1;
    double[] values = new double[rounds];
    Distribution distribution = new Distribution();
    for (int i = 0; i < rounds; i++) {
      long ns = postedNs[i + 1] - postedNs[i];
      values[i] = ns / HALF_NS_PER_US;
      distribution.record(ns / 2);
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int counted = rounds - TAIL;
    double average = Arrays.stream(sorted, 0, counted).average().orElse(0);
    double variance =
        Arrays.stream(sorted, 0, counted)
            .map(us -> (us - average) * (us - average))
            .average()
            .orElse(0);
    return new LatencyResult(
        sizeBytes,
        postedNs.length,
        sorted[0],
        sorted[counted],
        median(sorted, counted),
        average,
        Math.sqrt(variance),
        sorted[(int) Math.ceil(counted * 0.99)],
        sorted[(int) Math.ceil(counted * 0.999)],
        1e6 / (2 * average),
        values,
        distribution);
  }

  /** Combines the results of several runs with the same message size, such as one run per plane. */
  static LatencyResult combine(List<LatencyResult> results) {
    LatencyResult first = results.getFirst();
    if (results.size() == 1) {
      return first;
    }
    double[] values =
        results.stream().flatMapToDouble(each -> Arrays.stream(each.values)).toArray();
    Distribution all = new Distribution();
    long rounds = 0;
    double totalUs = 0;
    for (LatencyResult each : results) {
      all.add(each.distribution);
      rounds += each.iterations;
      totalUs += each.averageUs * each.iterations;
    }
    double average = rounds == 0 ? 0 : totalUs / rounds;
    return new LatencyResult(
        first.sizeBytes,
        rounds,
        all.leastUs(),
        all.mostUs(),
        all.percentileUs(50),
        average,
        all.deviationUs(),
        all.percentileUs(99),
        all.percentileUs(99.9),
        average == 0 ? 0 : 1e6 / (2 * average),
        values,
        all);
  }

  private static double median(double[] sorted, int count) {
    int middle = count / 2;
    return count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /**
   * Returns the result of a test with a duration.
   *
   * @param rounds number of rounds that ended in the measured time
   * @param distribution distribution of half round trips
   */
  static LatencyResult of(long sizeBytes, long rounds, long measuredNs, Distribution distribution) {
    return new LatencyResult(
        sizeBytes,
        rounds,
        distribution.leastUs(),
        distribution.mostUs(),
        distribution.percentileUs(50),
        rounds == 0 ? 0 : measuredNs / HALF_NS_PER_US / rounds,
        distribution.deviationUs(),
        distribution.percentileUs(99),
        distribution.percentileUs(99.9),
        rounds * 1e9 / measuredNs,
        new double[0],
        distribution);
  }
}
