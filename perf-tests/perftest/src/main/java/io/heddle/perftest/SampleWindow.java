package io.heddle.perftest;

/**
 * Measured part of a test with a duration: all of it except a margin at its start and one at its
 * end. Only the loop's thread uses it.
 */
final class SampleWindow {
  private static final long SECOND_NS = 1_000_000_000L;

  private final long marginNs;
  private final long durationNs;
  private boolean started;
  private long startNs;

  SampleWindow(Settings.Traffic traffic) {
    marginNs = traffic.marginSeconds() * SECOND_NS;
    durationNs = traffic.durationSeconds() * SECOND_NS;
  }

  /** Starts the window; later calls are ignored. */
  void start(long nowNs) {
    if (!started) {
      started = true;
      startNs = nowNs;
    }
  }

  boolean isSampling(long nowNs) {
    long passed = nowNs - startNs;
    return started && passed >= marginNs && passed < durationNs - marginNs;
  }

  boolean isOver(long nowNs) {
    return started && nowNs - startNs >= durationNs;
  }

  long measuredNs() {
    return durationNs - 2 * marginNs;
  }
}
