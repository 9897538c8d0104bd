package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RoundTripTest {
  @Test
  void windowGrowsToTheLimitAndShrinksOnLoss() {
    RoundTrip roundTrip = new RoundTrip();
    roundTrip.reset(512);
    roundTrip.acknowledged(1000);
    assertEquals(512, roundTrip.window());
    roundTrip.lost();
    assertEquals(384, roundTrip.window());
    roundTrip.timedOut();
    assertEquals(32, roundTrip.window());
    for (int i = 0; i < 100; i++) {
      roundTrip.acknowledged(64);
    }
    assertTrue(
        roundTrip.window() > 192 && roundTrip.window() <= 512, "grew to " + roundTrip.window());
  }

  @Test
  void aSmallReceiveBufferBoundsEverything() {
    RoundTrip roundTrip = new RoundTrip();
    roundTrip.reset(8);
    for (int i = 0; i < 10; i++) {
      roundTrip.lost();
      roundTrip.timedOut();
      roundTrip.acknowledged(100);
      assertEquals(8, roundTrip.window());
    }
  }

  @Test
  void timeoutFollowsWhatWasMeasuredAndBacksOff() {
    RoundTrip roundTrip = new RoundTrip();
    roundTrip.reset(512);
    for (int i = 0; i < 100; i++) {
      roundTrip.sample(100_000);
    }
    long calm = roundTrip.timeoutNs();
    assertEquals(2_000_000, calm, "never below the time a busy core needs");
    roundTrip.timedOut();
    assertEquals(2 * calm, roundTrip.timeoutNs());
    for (int i = 0; i < 20; i++) {
      roundTrip.timedOut();
    }
    assertEquals(100_000_000, roundTrip.timeoutNs());
    roundTrip.acknowledged(1);
    assertEquals(calm, roundTrip.timeoutNs());
  }
}
