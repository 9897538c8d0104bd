package io.heddle.perftest;

/**
 * The part of a test by time that is measured: all but a margin at the begin and at the end. The
 * loop's thread only.
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

  /** The first call counts. */
  void start(long nowNs) {
    if (!started) {
      started = true;
      startNs = nowNs;
    }
  }

  boolean samples(long nowNs) {
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
