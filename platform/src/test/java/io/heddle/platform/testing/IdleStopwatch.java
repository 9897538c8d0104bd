package io.heddle.platform.testing;

import java.util.function.LongSupplier;

/**
 * Stopwatch that approximates the time on an idle machine. Like the clock of {@link Deadline}, it
 * runs at an eighth of its speed while tasks of this host wait for a processor.
 */
public final class IdleStopwatch {
  private final LongSupplier clock;
  private final LongSupplier stalled;
  private final long beganStalledNs;
  private final long beganNs;

  IdleStopwatch(LongSupplier clock, LongSupplier stalled) {
    this.clock = clock;
    this.stalled = stalled;
    beganStalledNs = stalled.getAsLong();
    beganNs = clock.getAsLong();
  }

  /** Starts a stopwatch. */
  public static IdleStopwatch start() {
    return new IdleStopwatch(System::nanoTime, CpuPressure::nanoseconds);
  }

  /** Returns the nanoseconds since the stopwatch's start. */
  public long ns() {
    long passed = clock.getAsLong() - beganNs;
    return Deadline.idleNs(passed, stalled.getAsLong() - beganStalledNs);
  }
}
