package io.heddle.bridge.redundancy;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Conditions under which a thread without progress counts as hung. */
class HangDetectorTest {
  private static final long APART_NS = 20;

  private final AtomicLong beats = new AtomicLong();
  private final HangDetector watch = new HangDetector(beats::get, 3, APART_NS);
  private long now = System.nanoTime();

  private boolean check() {
    now += APART_NS;
    return watch.isHung(now);
  }

  @Test
  void progressBetweenChecksIsNeverHung() {
    for (int i = 0; i < 100; i++) {
      assertFalse(check());
      assertFalse(check());
      beats.incrementAndGet();
    }
  }

  @Test
  void missedChecksMeanHungThread() {
    assertFalse(check());
    assertFalse(check());
    assertTrue(check());
    assertTrue(check());
    beats.incrementAndGet();
    assertFalse(check());
  }

  @Test
  void checksInQuickSuccessionCountAsOne() {
    check();
    for (int i = 0; i < 100; i++) {
      assertFalse(watch.isHung(now + APART_NS - 1));
    }
    check();
    assertTrue(check());
  }

  @Test
  void longPauseOfCheckerCountsAsOneCheck() {
    now += 1_000_000 * APART_NS;
    assertFalse(check());
    assertFalse(check());
    assertTrue(check());
  }
}
