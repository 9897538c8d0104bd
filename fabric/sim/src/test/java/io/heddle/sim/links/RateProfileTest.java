package io.heddle.sim.links;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RateProfileTest {
  @Test
  void aQuarterOfTheRateTakesFourTimesAsLong() {
    assertEquals(140, RateProfile.constant(0.25).endNs(100, 10), 1e-9);
  }

  @Test
  void transferSlowsDownInsideASlowSpan() {
    RateProfile slow = RateProfile.fault(0.5, 100, 1_000);
    assertEquals(90 + 10 + 20, slow.endNs(90, 20), 1e-9);
    assertEquals(1_095 + 5 + 7.5, slow.endNs(1_095, 10), 1e-9);
    assertEquals(100 + 500 + 100, slow.integralNs(1_200), 1e-9);
  }

  @Test
  void transferNeverEndsInPermanentBlackHole() {
    RateProfile hole = RateProfile.fault(0, 100, 50);
    assertEquals(Double.POSITIVE_INFINITY, hole.endNs(90, 20));
    assertEquals(170, hole.endNs(150, 20), 1e-9);
    assertEquals(0, hole.shareAt(149));
    assertEquals(1, hole.shareAt(150));
  }

  @Test
  void blackHoleMayStartAtTimeZero() {
    assertEquals(0, RateProfile.fault(0, 0, 10).shareAt(0));
  }

  @Test
  void burstsTakeTheirShareOnAverage() {
    RateProfile bursts = RateProfile.bursts(new SplittableRandom(5), 400, 100, 0.2);
    double untilNs = 1e6;
    /*
     * Of 500 ns on average, 400 have the full rate and 100 a fifth of it. So the mean share is
     * 0.84.
     */
    assertEquals(0.84, bursts.integralNs(untilNs) / untilNs, 0.02);
    boolean isFull = false;
    boolean isLeft = false;
    for (int ns = 0; ns < 100_000; ns += 50) {
      isFull |= bursts.shareAt(ns) == 1;
      isLeft |= bursts.shareAt(ns) == 0.2;
    }
    assertTrue(isFull && isLeft);
  }
}
