package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RoundTripTest {
  @Test
  void timeoutFollowsSamplesAndBacksOff() {
    RoundTrip roundTrip = new RoundTrip();
    roundTrip.reset();
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
    assertEquals(4_000_000_000L, roundTrip.timeoutNs());
    roundTrip.sample(100_000);
    assertEquals(calm, roundTrip.timeoutNs());
  }

  @Test
  void firstTimeoutDoublesWithoutSamples() {
    RoundTrip roundTrip = new RoundTrip();
    roundTrip.reset();
    assertEquals(10_000_000, roundTrip.timeoutNs());
    roundTrip.timedOut();
    roundTrip.timedOut();
    assertEquals(40_000_000, roundTrip.timeoutNs());
  }

  @Test
  void longPathIsMeasuredAfterFewProbes() {
    RoundTrip roundTrip = new RoundTrip();
    roundTrip.reset();
    long waited = 0;
    int questions = 0;
    while (waited + roundTrip.timeoutNs() < 310_000_000) {
      waited += roundTrip.timeoutNs();
      roundTrip.timedOut();
      questions++;
    }
    assertTrue(questions <= 5, questions + " questions");
    roundTrip.sample(310_000_000);
    assertTrue(roundTrip.timeoutNs() > 310_000_000, "the next wait is long enough");
  }
}
