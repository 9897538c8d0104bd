package io.heddle.tools.demo;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Throughput of each plane over time, from samples of counters. Time is divided into bins of equal
 * length.
 *
 * @param binSeconds length of a bin in seconds
 * @param seconds middle of each bin, in seconds since the first bytes
 * @param byPlane throughput in each bin in MB/s, one list per plane
 */
record ThroughputCurve(double binSeconds, List<Double> seconds, List<List<Double>> byPlane) {
  private static final String BARS = "▁▂▃▄▅▆▇█";

  /**
   * Builds a curve.
   *
   * @param mostSeconds latest end of the curve, in seconds since the first bytes
   */
  static ThroughputCurve of(
      ShareSamples samples, int planes, double binSeconds, double mostSeconds) {
    List<Double> middles = new ArrayList<>();
    List<List<Double>> rates = new ArrayList<>();
    for (int plane = 0; plane < planes; plane++) {
      rates.add(new ArrayList<>());
    }
    double first = samples.first();
    int bins = (int) (Math.min(samples.last() - first, mostSeconds) / binSeconds);
    for (int bin = 0; bin < bins; bin++) {
      double from = bin * binSeconds;
      middles.add(from + binSeconds / 2);
      for (int plane = 0; plane < planes; plane++) {
        double bytes =
            samples.bytesAt(first + from + binSeconds, plane)
                - samples.bytesAt(first + from, plane);
        rates.get(plane).add(bytes / binSeconds / 1e6);
      }
    }
    return new ThroughputCurve(binSeconds, middles, rates);
  }

  List<Double> total() {
    List<Double> sums = new ArrayList<>();
    for (int bin = 0; bin < seconds.size(); bin++) {
      double sum = 0;
      for (List<Double> plane : byPlane) {
        sum += plane.get(bin);
      }
      sums.add(sum);
    }
    return sums;
  }

  /**
   * Returns the mean throughput of all planes together in an interval, MB/s; 0 if the interval
   * contains no bin.
   */
  double mean(double from, double to) {
    List<Double> total = total();
    double sum = 0;
    int bins = 0;
    for (int bin = 0; bin < seconds.size(); bin++) {
      if (seconds.get(bin) >= from && seconds.get(bin) < to) {
        sum += total.get(bin);
        bins++;
      }
    }
    return bins == 0 ? 0 : sum / bins;
  }

  /**
   * Returns the time from {@code time} until the throughput of all planes together reached a rate
   * and kept it for {@code steadySeconds}.
   *
   * @return seconds, in steps of bins; null if it never reached the rate
   */
  @Nullable Double reachedAfter(double time, double rate, double steadySeconds) {
    List<Double> total = total();
    int needed = (int) Math.ceil(steadySeconds / binSeconds);
    int steady = 0;
    for (int bin = 0; bin < seconds.size(); bin++) {
      if (seconds.get(bin) < time) {
        continue;
      }
      steady = total.get(bin) >= rate ? steady + 1 : 0;
      if (steady == needed) {
        double start = seconds.get(bin - needed + 1) - binSeconds / 2;
        return Math.max(0, start - time);
      }
    }
    return null;
  }

  /** Returns the seconds from {@code time} until a plane carried bytes; null if it never did. */
  @Nullable Double usedAfter(double time, int plane) {
    for (int bin = 0; bin < seconds.size(); bin++) {
      double start = seconds.get(bin) - binSeconds / 2;
      if (start >= time && byPlane.get(plane).get(bin) > 0) {
        return start - time;
      }
    }
    return null;
  }

  /**
   * Returns a line of bars that shows the throughput of all planes, with a mark in front of the bar
   * at which an event happened.
   */
  String sparkline(int width, List<Mark> marks) {
    List<Double> total = total();
    int bins = Math.max(1, total.size());
    double most = total.stream().mapToDouble(Double::doubleValue).max().orElse(1);
    StringBuilder line = new StringBuilder();
    int columns = Math.min(width, bins);
    for (int column = 0; column < columns; column++) {
      int from = column * bins / columns;
      int to = Math.max(from + 1, (column + 1) * bins / columns);
      double begin = from * binSeconds;
      double end = to * binSeconds;
      for (Mark mark : marks) {
        if (mark.seconds() >= begin && mark.seconds() < end) {
          line.append(mark.symbol());
        }
      }
      double mean = mean(begin, end);
      line.append(
          mean <= 0 ? ' ' : BARS.charAt((int) Math.min(7, mean / Math.max(most, 1e-9) * 8)));
    }
    return line.toString();
  }

  /** Mark of an event in a plot. */
  record Mark(double seconds, String symbol, String text) {}
}
