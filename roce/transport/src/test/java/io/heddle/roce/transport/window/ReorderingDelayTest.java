package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReorderingDelayTest {
  private static final long ROUND_NS = 40_000;
  private static final long SECOND_NS = 1_000_000_000;

  private final ReorderingDelay reorderingDelay = new ReorderingDelay();
  private final RoundTrip roundTrip = new RoundTrip();
  private long nowNs = 5 * SECOND_NS;

  @BeforeEach
  void measure() {
    roundTrip.sample(ROUND_NS);
    reorderingDelay.reset(nowNs);
  }

  private long boundNs() {
    return reorderingDelay.lostAtNs(nowNs, roundTrip) - nowNs - ROUND_NS;
  }

  private boolean hasBound() {
    return reorderingDelay.lostAtNs(nowNs, roundTrip) > nowNs;
  }

  private void came(long tooEarlyNs) {
    nowNs += 2 * ROUND_NS;
    reorderingDelay.onSpuriousLoss(tooEarlyNs, roundTrip, nowNs);
  }

  @Test
  void withoutReorderingLossIsImmediate() {
    assertEquals(nowNs, reorderingDelay.lostAtNs(nowNs, roundTrip));
    reorderingDelay.onRealLoss(nowNs);
    assertFalse(hasBound());
  }

  @Test
  void windowGrowsUntilSufficientUpToTimeout() {
    came(1_000);
    assertEquals(ROUND_NS / 4, boundNs());
    came(30_000);
    assertEquals(ROUND_NS / 4 + 30_000, boundNs());
    came(1_000);
    assertEquals(2 * (ROUND_NS / 4 + 30_000), boundNs());
    for (int i = 0; i < 30; i++) {
      came(0);
    }
    assertEquals(roundTrip.timeoutNs(), boundNs());
  }

  @Test
  void windowGrowsOncePerRoundTrip() {
    came(1_000);
    long bound = boundNs();
    reorderingDelay.onSpuriousLoss(1_000, roundTrip, nowNs + ROUND_NS / 2);
    assertEquals(bound, boundNs());
  }

  @Test
  void realLossesShrinkWindow() {
    came(1_000);
    for (int halves = 0; halves < 20 && hasBound(); halves++) {
      long bound = boundNs();
      for (int i = 0; i < 100; i++) {
        reorderingDelay.onRealLoss(nowNs);
      }
      assertEquals(bound, boundNs(), "not within seconds");
      nowNs += 11 * SECOND_NS;
      reorderingDelay.onRealLoss(nowNs);
    }
    assertFalse(hasBound());
  }
}
