package io.heddle.platform.testing;

import java.util.function.LongSupplier;

/**
 * Stopwatch on {@link Deadline}'s clock, which runs at an eighth of its pace while tasks wait for a
 * processor. It approximates the time on an idle machine.
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
