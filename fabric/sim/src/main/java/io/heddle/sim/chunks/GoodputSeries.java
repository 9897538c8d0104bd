package io.heddle.sim.chunks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Series of acknowledged bytes over time. The number of time steps is bounded; a longer run has
 * longer steps.
 */
final class GoodputSeries {
  private static final int STEPS = 256;

  private final double[] bytes = new double[STEPS];
  private long stepNs = 256;

  void add(long atNs, int acknowledgedBytes) {
    while (atNs >= stepNs * STEPS) {
      for (int i = 0; i < STEPS / 2; i++) {
        bytes[i] = bytes[2 * i] + bytes[2 * i + 1];
      }
      Arrays.fill(bytes, STEPS / 2, STEPS, 0);
      stepNs *= 2;
    }
    bytes[(int) (atNs / stepNs)] += acknowledgedBytes;
  }

  long stepNs() {
    return stepNs;
  }

  /** Returns the bits per second of each time step, up to the step that contains this time. */
  List<Double> bitsPerSecond(long untilNs) {
    List<Double> steps = new ArrayList<>();
    for (int i = 0; i < STEPS && i * stepNs <= untilNs; i++) {
      steps.add(bytes[i] * 8e9 / stepNs);
    }
    return steps;
  }
}
