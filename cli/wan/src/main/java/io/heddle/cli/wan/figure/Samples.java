package io.heddle.cli.wan.figure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Durations of the same thing, measured again and again. One thread. */
public final class Samples {
  private static final double NS_PER_MS = 1e6;

  private final List<Double> all = new ArrayList<>();

  /** Adds one. */
  public void addNs(long durationNs) {
    all.add(durationNs / NS_PER_MS);
  }

  public int count() {
    return all.size();
  }

  /**
   * Below which so many of a hundred are, in ms; the most where there are few.
   *
   * @throws IllegalStateException where nothing was measured
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
