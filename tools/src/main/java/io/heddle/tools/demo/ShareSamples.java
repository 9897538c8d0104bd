package io.heddle.tools.demo;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Samples of the planes' byte counters over time. It computes the planes' shares between two
 * samples.
 */
final class ShareSamples {
  private record Sample(double seconds, List<Long> bytes) {}

  private final List<Sample> samples = new ArrayList<>();

  void add(double seconds, List<Long> bytes) {
    samples.add(new Sample(seconds, List.copyOf(bytes)));
  }

  boolean isEmpty() {
    return samples.isEmpty();
  }

  double first() {
    return samples.getFirst().seconds();
  }

  double last() {
    return samples.getLast().seconds();
  }

  List<Double> times() {
    return samples.stream().map(Sample::seconds).toList();
  }

  /**
   * Returns each plane's share of the bytes sent in an interval. The interval is measured from the
   * last sample before its start to the last sample before its end.
   *
   * @return null if nothing was sent, or if the two are the same sample
   */
  @Nullable List<Double> shares(double from, double to) {
    Sample before = at(from);
    Sample after = at(to);
    if (before == null || after == null || before.seconds() >= after.seconds()) {
      return null;
    }
    return shares(PlaneShare.difference(before.bytes(), after.bytes()));
  }

  static @Nullable List<Double> shares(List<Long> bytes) {
    long total = bytes.stream().mapToLong(Long::longValue).sum();
    return total <= 0 ? null : bytes.stream().map(one -> (double) one / total).toList();
  }

  /* Returns the last sample at or before a time. */
  private @Nullable Sample at(double seconds) {
    Sample found = null;
    for (Sample sample : samples) {
      if (sample.seconds() <= seconds) {
        found = sample;
      }
    }
    return found;
  }

  /**
   * Returns the number of bytes that a plane has sent by a time, interpolated between the adjacent
   * samples.
   */
  double bytesAt(double seconds, int plane) {
    Sample before = samples.getFirst();
    for (Sample sample : samples) {
      if (sample.seconds() >= seconds) {
        double span = sample.seconds() - before.seconds();
        double part = span <= 0 ? 1 : (seconds - before.seconds()) / span;
        long from = before.bytes().get(plane);
        return from + part * (sample.bytes().get(plane) - from);
      }
      before = sample;
    }
    return before.bytes().get(plane);
  }

  /** Returns the largest difference between an expected and a sent share, in percentage points. */
  static double deviationPoints(List<Double> expected, List<Double> sent) {
    double largest = 0;
    for (int plane = 0; plane < expected.size(); plane++) {
      largest = Math.max(largest, 100 * Math.abs(expected.get(plane) - sent.get(plane)));
    }
    return largest;
  }
}
