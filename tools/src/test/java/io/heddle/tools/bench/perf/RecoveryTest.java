package io.heddle.tools.bench.perf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Test of {@link Recovery} with an event at second 3. The 3 seconds before and after the event are
 * evaluated.
 */
class RecoveryTest {
  private static final double EVENT = 3;
  private static final int EVALUATED_SECONDS = 3;
  private static final long SEND = 1 << 20;

  /*
   * Returns the completions of successive sends of 1 MiB, for a rate in MB/s that depends on the
   * time.
   */
  private static Completions done(DoubleUnaryOperator rate) {
    double step = 1e-4;
    double left = SEND;
    List<Double> times = new java.util.ArrayList<>();
    for (double time = 0; time < EVENT + EVALUATED_SECONDS + 0.1; time += step) {
      left -= rate.applyAsDouble(time) * 1e6 * step;
      if (left <= 0) {
        times.add(100 + time);
        left += SEND;
      }
    }
    double[] seconds = times.stream().mapToDouble(Double::doubleValue).toArray();
    long[] totals = new long[seconds.length];
    for (int i = 0; i < totals.length; i++) {
      totals[i] = (i + 1) * SEND;
    }
    return new Completions(seconds, totals);
  }

  private static Recovery of(DoubleUnaryOperator rate) {
    return Recovery.of(List.of(done(rate)), 100 + EVENT, EVALUATED_SECONDS);
  }

  @Test
  void eventWithoutEffectIsNoStall() {
    Recovery recovery = of(time -> 500);
    assertFalse(recovery.isStall());
    assertEquals(0.0, recovery.fullSpeedMs());
    assertEquals(2.1, recovery.usualGapMs(), 0.2);
    assertEquals(500, recovery.beforeMegabytesPerSecond(), 5);
    assertEquals(500, recovery.afterMegabytesPerSecond(), 5);
  }

  @Test
  void stallLastsUntilTheRateIsFullAgain() {
    Recovery recovery = of(time -> time >= 3.1 && time < 3.5 ? 0 : time < 3 ? 800 : 600);
    assertTrue(recovery.isStall());
    assertEquals(400, recovery.gapMs(), 5);
    assertEquals(500, recovery.fullSpeedMs(), 10);
    assertEquals(600, recovery.afterMegabytesPerSecond(), 6);
  }

  @Test
  void slowRecoveryEndsAtFullRate() {
    Recovery recovery = of(time -> time < 3 ? 800 : time < 3.2 ? 0 : time < 4 ? 100 : 600);
    assertEquals(200, recovery.gapMs(), 15);
    assertEquals(1000, recovery.fullSpeedMs(), 25);
  }

  @Test
  void slowdownWithoutStallIsNotFullSpeed() {
    Recovery recovery = of(time -> time < 3 ? 800 : time < 3.3 ? 150 : 600);
    assertEquals(300, recovery.fullSpeedMs(), 20);
  }

  @Test
  void permanentStallNeverReachesFullSpeed() {
    Recovery recovery = of(time -> time < 3.2 ? 800 : 0);
    assertTrue(recovery.gapMs() > 2700, () -> "gap " + recovery.gapMs());
    assertNull(recovery.fullSpeedMs());
  }

  @Test
  void stallOfASingleRankIsAStall() {
    Completions busy = done(time -> 500);
    Completions still = done(time -> time >= 3.1 && time < 3.2 ? 0 : 500);
    Recovery recovery = Recovery.of(List.of(busy, still), 100 + EVENT, EVALUATED_SECONDS);
    assertEquals(100, recovery.gapMs(), 5);
  }

  @Test
  void singleOutlierBeforeTheEventIsIgnored() {
    Recovery recovery =
        of(time -> time >= 1.1 && time < 1.2 || time >= 3.1 && time < 3.2 ? 0 : 500);
    assertEquals(2.1, recovery.usualGapMs(), 0.2);
    assertTrue(recovery.isStall());
  }

  @Test
  void laterStallIsNotAttributedToTheEvent() {
    Recovery recovery = of(time -> time >= 4.5 && time < 4.7 ? 0 : 500);
    assertFalse(recovery.isStall());
  }
}
