package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a way is asked whether it carries wide packets, and when it is believed. */
class WidePathProbeTest {
  private static final long START_NS = -5_000_000_000L;
  private final WidePathProbe way = new WidePathProbe();

  private static void loseFour(WidePathProbe way, long nowNs) {
    for (int i = 0; i < 3; i++) {
      assertFalse(way.lost(nowNs));
    }
    assertTrue(way.passes());
    assertTrue(way.lost(nowNs));
    assertFalse(way.passes());
  }

  @Test
  void noProbeWithoutAgreement() {
    way.start(false, START_NS);
    assertFalse(way.isProbeDue(START_NS));
    assertFalse(way.isProbeDue(START_NS + 100 * WidePathProbe.LONGEST_PAUSE_NS));
    assertFalse(way.passes());
  }

  @Test
  void failedProbesBackOff() {
    way.start(true, START_NS);
    long nowNs = START_NS;
    long pauseNs = WidePathProbe.FIRST_PAUSE_NS;
    for (int i = 1; i < 20; i++) {
      assertTrue(way.isProbeDue(nowNs));
      way.asked(true, nowNs);
      assertEquals(i == WidePathProbe.FAILURES_BEFORE_WARNING, way.overtaken(nowNs + 1));
      assertFalse(way.overtaken(nowNs + 2), "one question is in vain once");
      assertFalse(way.isProbeDue(nowNs + pauseNs - 1));
      nowNs += pauseNs;
      pauseNs = Math.min(2 * pauseNs, WidePathProbe.LONGEST_PAUSE_NS);
    }
    assertFalse(way.passes());
  }

  @Test
  void silentPeerIsNoProbeFailure() {
    way.start(true, START_NS);
    long nowNs = START_NS;
    for (int i = 0; i < 20; i++) {
      way.asked(true, nowNs);
      assertFalse(way.overtaken(nowNs), "an answer to what had left before says nothing");
      nowNs += WidePathProbe.LONGEST_PAUSE_NS;
    }
    assertFalse(way.overtaken(nowNs), "the last question alone is in vain");
  }

  @Test
  void unsentProbeIsNoFailure() {
    way.start(true, START_NS);
    for (int i = 0; i < 20; i++) {
      way.asked(false, START_NS + i);
      assertFalse(way.overtaken(START_NS + i + 1));
    }
  }

  @Test
  void answerEndsProbesDespiteRandomLoss() {
    way.start(true, START_NS);
    way.asked(true, START_NS);
    way.answered(START_NS + 50_000);
    assertTrue(way.passes());
    for (int i = 0; i < 10; i++) {
      assertFalse(way.isProbeDue(START_NS + i * WidePathProbe.LONGEST_PAUSE_NS));
      assertFalse(way.lost(START_NS));
      assertFalse(way.lost(START_NS));
      assertFalse(way.lost(START_NS));
      way.carried();
    }
    assertTrue(way.passes());
  }

  @Test
  void longWorkingPathIsProbedAtOnce() {
    way.start(true, START_NS);
    way.asked(true, START_NS);
    way.answered(START_NS);
    long laterNs = START_NS + 2 * WidePathProbe.LONGEST_PAUSE_NS;
    loseFour(way, laterNs);
    assertTrue(way.isProbeDue(laterNs));
    way.asked(true, laterNs);
    assertTrue(way.isProbeDue(laterNs + WidePathProbe.FIRST_PAUSE_NS));
  }

  @Test
  void pathThatLosesTrainsIsProbedLessOften() {
    way.start(true, START_NS);
    long nowNs = START_NS;
    long pauseNs = WidePathProbe.FIRST_PAUSE_NS;
    for (int i = 0; i < 5; i++) {
      way.asked(true, nowNs);
      way.answered(nowNs);
      loseFour(way, nowNs);
      pauseNs *= 2;
      assertFalse(way.isProbeDue(nowNs + pauseNs - 1));
      nowNs += pauseNs;
      assertTrue(way.isProbeDue(nowNs));
    }
  }
}
