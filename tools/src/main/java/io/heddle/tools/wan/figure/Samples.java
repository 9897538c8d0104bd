package io.heddle.tools.wan.figure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Repeated measurements of one duration. For one thread. */
public final class Samples {
  private static final double NS_PER_MS = 1e6;

  private final List<Double> all = new ArrayList<>();

  /** Adds a measurement. */
  public void addNs(long durationNs) {
    all.add(durationNs / NS_PER_MS);
  }

  public int count() {
    return all.size();
  }

  /**
   * Returns a percentile of the durations in ms. With few measurements a high percentile is their
   * maximum.
   *
   * @throws IllegalStateException if no measurement was added
   */
  public double percentileMs(int percent) {
    if (all.isEmpty()) {
      throw new IllegalStateException("nothing was measured");
    }
    List<Double> sorted = new ArrayList<>(all);
    Collections.sort(sorted);
    int at = (int) Math.ceil(sorted.size() * percent / 100.0) - 1;
    return sorted.get(Math.max(0, at));
  }
}
