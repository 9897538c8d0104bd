package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PausingClockTest {
  private static final long MS = 1_000_000;

  private long nowNs = 5;
  private final PausingClock time = new PausingClock(() -> nowNs);
  private final long beginNs = time.nanoTime();

  private void sleep(long mostMs, long tookMs) {
    time.beforeSleep(mostMs * MS);
    nowNs += tookMs * MS;
  }

  private long passedMs() {
    return (time.nanoTime() - beginNs) / MS;
  }

  @Test
  void punctualThreadHasNoDelay() {
    sleep(100, 60);
    assertFalse(time.afterWake());
    sleep(100, 110);
    assertFalse(time.afterWake());
    assertEquals(170, passedMs());
  }

  @Test
  void clockPausesWhileThreadIsDelayed() {
    sleep(100, 3_100);
    assertTrue(time.afterWake());
    assertFalse(time.afterWake(), "it is known");
    assertEquals(120, passedMs());
    sleep(100, 50);
    assertFalse(time.afterWake());
    assertEquals(170, passedMs());
  }

  @Test
  void longTaskIsNoTimeForReceiving() {
    sleep(10, 10);
    assertFalse(time.afterWake());
    nowNs += 3_000 * MS;
    assertTrue(time.afterWork());
    assertFalse(time.afterWork(), "it has heard what came");
    assertEquals(30, passedMs());
    nowNs += 15 * MS;
    assertFalse(time.afterWork());
    nowNs += 3_000 * MS;
    sleep(10, 0);
    assertEquals(50, passedMs());
  }
}
