package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** When a thread that doesn't move is said to hang. */
class DataWatchTest {
  private static final long APART_NS = 20;

  private final AtomicLong beats = new AtomicLong();
  private final DataWatch watch = new DataWatch(beats::get, 3, APART_NS);
  private long now = System.nanoTime();

  private boolean look() {
    now += APART_NS;
    return watch.hangs(now);
  }

  @Test
  void whatMovesBetweenLooksNeverHangs() {
    for (int i = 0; i < 100; i++) {
      assertFalse(look());
      assertFalse(look());
      beats.incrementAndGet();
    }
  }

  @Test
  void someLooksInVainSayThatItHangs() {
    assertFalse(look());
    assertFalse(look());
    assertTrue(look());
    assertTrue(look());
    beats.incrementAndGet();
    assertFalse(look());
  }

  @Test
  void looksThatFollowTooSoonCountAsOne() {
    look();
    for (int i = 0; i < 100; i++) {
      assertFalse(watch.hangs(now + APART_NS - 1));
    }
    look();
    assertTrue(look());
  }

  @Test
  void aLongPauseOfTheWatcherIsOneLook() {
    now += 1_000_000 * APART_NS;
    assertFalse(look());
    assertFalse(look());
    assertTrue(look());
  }
}
