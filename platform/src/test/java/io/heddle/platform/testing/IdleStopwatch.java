package io.heddle.platform.testing;

import java.util.function.LongSupplier;

/**
 * How long something took by {@link Patience}'s clock, which runs at an eighth of its pace while
 * tasks wait for a processor: about what it would have taken on a machine with nothing else to do.
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

  /** One that runs from now on. */
  public static IdleStopwatch start() {
    return new IdleStopwatch(System::nanoTime, CpuPressure::nanoseconds);
  }

  /** Nanoseconds since its start. */
  public long ns() {
    long passed = clock.getAsLong() - beganNs;
    return Patience.idleNs(passed, stalled.getAsLong() - beganStalledNs);
  }
}
