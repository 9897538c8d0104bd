package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/** What a run's samples say of an event at second 3, of which 3 seconds after are looked at. */
class RecoveryTest {
  private static final double EVENT = 3;
  private static final double LOOK = 3;
  private static final double PERIOD = 0.002;

  /* Bytes by the integral of a rate, in MB/s, over time. */
  private static Recovery of(DoubleUnaryOperator rate) {
    ShareSamples samples = new ShareSamples();
    double total = 1;
    for (int i = 0; i * PERIOD <= EVENT + LOOK; i++) {
      double time = i * PERIOD;
      samples.add(100 + time, List.of((long) total));
      total += rate.applyAsDouble(time) * 1e6 * PERIOD;
    }
    return Recovery.of(samples, 100 + EVENT, LOOK);
  }

  @Test
  void anEventThatNobodyNoticesIsNoStall() {
    Recovery recovery = of(time -> 500);
    assertEquals(0.0, recovery.fullSpeedMs());
    assertEquals(2, recovery.usualGapMs(), 0.1);
    assertEquals(500, recovery.beforeMegabytesPerSecond(), 5);
    assertEquals(500, recovery.afterMegabytesPerSecond(), 5);
  }

  @Test
  void aStallLastsUntilTheRateIsFullAgain() {
    Recovery recovery = of(time -> time >= 3.1 && time < 3.5 ? 0 : time < 3 ? 800 : 600);
    assertEquals(400, recovery.gapMs(), 5);
    assertEquals(500, recovery.fullSpeedMs(), 10);
    assertEquals(600, recovery.afterMegabytesPerSecond(), 6);
  }

  @Test
  void whatComesBackSlowlyIsBackWhenItIsFull() {
    Recovery recovery = of(time -> time < 3 ? 800 : time < 3.2 ? 0 : time < 4 ? 100 : 600);
    assertEquals(200, recovery.gapMs(), 5);
    assertEquals(1000, recovery.fullSpeedMs(), 25);
  }

  @Test
  void whatStaysAtNothingNeverComesBack() {
    Recovery recovery = of(time -> time < 3.2 ? 800 : 0);
    assertTrue(recovery.gapMs() > 2700, () -> "gap " + recovery.gapMs());
    assertNull(recovery.fullSpeedMs());
  }
}
