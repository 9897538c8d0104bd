package io.heddle.perftest;

import org.HdrHistogram.Histogram;

/** Distribution of times, in an HdrHistogram of nanoseconds. Recording allocates nothing. */
final class Distribution {
  private static final long LONGEST_NS = 3_600_000_000_000L;
  private static final int DIGITS = 3;
  private static final double NS_PER_US = 1_000.0;

  private final Histogram histogram = new Histogram(1, LONGEST_NS, DIGITS);

  void record(long ns) {
    histogram.recordValue(Math.min(Math.max(ns, 0), LONGEST_NS));
  }

  void add(Distribution other) {
    histogram.add(other.histogram);
  }

  long count() {
    return histogram.getTotalCount();
  }

  /** Returns the percentile in microseconds; 0 without values. */
  double percentileUs(double percent) {
    return count() == 0 ? 0 : histogram.getValueAtPercentile(percent) / NS_PER_US;
  }

  double leastUs() {
    return count() == 0 ? 0 : histogram.getMinValue() / NS_PER_US;
  }

  double mostUs() {
    return count() == 0 ? 0 : histogram.getMaxValue() / NS_PER_US;
  }

  double meanUs() {
    return count() == 0 ? 0 : histogram.getMean() / NS_PER_US;
  }

  double deviationUs() {
    return count() == 0 ? 0 : histogram.getStdDeviation() / NS_PER_US;
  }
}
