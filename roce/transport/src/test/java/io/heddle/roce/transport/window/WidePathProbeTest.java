package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Tests when a path is probed for wide packets, and when it counts as wide. */
class WidePathProbeTest {
  private static final long START_NS = -5_000_000_000L;
  private final WidePathProbe path = new WidePathProbe();

  private static void loseFour(WidePathProbe path, long nowNs) {
    for (int i = 0; i < 3; i++) {
      assertFalse(path.lost(nowNs));
    }
    assertTrue(path.isPassing());
    assertTrue(path.lost(nowNs));
    assertFalse(path.isPassing());
  }

  @Test
  void noProbeWithoutAgreement() {
    path.start(false, START_NS);
    assertFalse(path.isProbeDue(START_NS));
    assertFalse(path.isProbeDue(START_NS + 100 * WidePathProbe.LONGEST_PAUSE_NS));
    assertFalse(path.isPassing());
  }

  @Test
  void failedProbesBackOff() {
    path.start(true, START_NS);
    long nowNs = START_NS;
    long pauseNs = WidePathProbe.FIRST_PAUSE_NS;
    for (int i = 1; i < 20; i++) {
      assertTrue(path.isProbeDue(nowNs));
      path.onProbe(true, nowNs);
      assertEquals(i == WidePathProbe.FAILURES_BEFORE_WARNING, path.onLaterAnswer(nowNs + 1));
      assertFalse(path.onLaterAnswer(nowNs + 2), "a probe fails only once");
      assertFalse(path.isProbeDue(nowNs + pauseNs - 1));
      nowNs += pauseNs;
      pauseNs = Math.min(2 * pauseNs, WidePathProbe.LONGEST_PAUSE_NS);
    }
    assertFalse(path.isPassing());
  }

  @Test
  void silentPeerIsNoProbeFailure() {
    path.start(true, START_NS);
    long nowNs = START_NS;
    for (int i = 0; i < 20; i++) {
      path.onProbe(true, nowNs);
      assertFalse(path.onLaterAnswer(nowNs), "an answer to what had left before says nothing");
      nowNs += WidePathProbe.LONGEST_PAUSE_NS;
    }
    assertFalse(path.onLaterAnswer(nowNs), "only the last probe failed");
  }

  @Test
  void unsentProbeIsNoFailure() {
    path.start(true, START_NS);
    for (int i = 0; i < 20; i++) {
      path.onProbe(false, START_NS + i);
      assertFalse(path.onLaterAnswer(START_NS + i + 1));
    }
  }

  @Test
  void answerEndsProbesDespiteRandomLoss() {
    path.start(true, START_NS);
    path.onProbe(true, START_NS);
    path.answered(START_NS + 50_000);
    assertTrue(path.isPassing());
    for (int i = 0; i < 10; i++) {
      assertFalse(path.isProbeDue(START_NS + i * WidePathProbe.LONGEST_PAUSE_NS));
      assertFalse(path.lost(START_NS));
      assertFalse(path.lost(START_NS));
      assertFalse(path.lost(START_NS));
      path.carried();
    }
    assertTrue(path.isPassing());
  }

  @Test
  void longWorkingPathIsProbedAtOnce() {
    path.start(true, START_NS);
    path.onProbe(true, START_NS);
    path.answered(START_NS);
    long laterNs = START_NS + 2 * WidePathProbe.LONGEST_PAUSE_NS;
    loseFour(path, laterNs);
    assertTrue(path.isProbeDue(laterNs));
    path.onProbe(true, laterNs);
    assertTrue(path.isProbeDue(laterNs + WidePathProbe.FIRST_PAUSE_NS));
  }

  @Test
  void pathThatLosesTrainsIsProbedLessOften() {
    path.start(true, START_NS);
    long nowNs = START_NS;
    long pauseNs = WidePathProbe.FIRST_PAUSE_NS;
    for (int i = 0; i < 5; i++) {
      path.onProbe(true, nowNs);
      path.answered(nowNs);
      loseFour(path, nowNs);
      pauseNs *= 2;
      assertFalse(path.isProbeDue(nowNs + pauseNs - 1));
      nowNs += pauseNs;
      assertTrue(path.isProbeDue(nowNs));
    }
  }
}
