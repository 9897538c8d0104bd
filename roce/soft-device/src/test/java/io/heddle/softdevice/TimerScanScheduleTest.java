package io.heddle.softdevice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.roce.transport.Pause;
import org.junit.jupiter.api.Test;

class TimerScanScheduleTest {
  private static final long LOOK_NS = 1_000;
  private static final long ROUND_NS = 100;

  private final TimerScanSchedule looks = new TimerScanSchedule(0);

  @Test
  void noScanBeforeDueTime() {
    assertFalse(looks.begin(50));
    looks.requestAt(100);
    looks.requestAt(200);
    assertEquals(100, looks.dueNs());
    assertFalse(looks.begin(99));
    assertTrue(looks.begin(100));
    assertEquals(Pause.NEVER_NS, looks.dueNs());
  }

  @Test
  void nextScanIsDueAtEarliestRequest() {
    looks.requestAt(100);
    assertTrue(looks.begin(100));
    looks.requestAt(300);
    looks.end(100, 101, 400);
    assertEquals(300, looks.dueNs());
  }

  @Test
  void scansTakeAnEighthOfTimeUnderLoad() {
    long nowNs = 0;
    long lookedNs = 0;
    while (nowNs < 1_000 * LOOK_NS) {
      looks.requestAt(nowNs);
      if (looks.begin(nowNs)) {
        looks.end(nowNs, nowNs + LOOK_NS, nowNs);
        nowNs += LOOK_NS;
        lookedNs += LOOK_NS;
      }
      nowNs += ROUND_NS;
    }
    double share = lookedNs / (double) nowNs;
    assertTrue(share > 0.1 && share <= 0.125, share + " of the time");
  }

  @Test
  void sleeperIsNotWokenDuringPause() {
    looks.requestAt(0);
    assertTrue(looks.begin(0));
    looks.end(0, LOOK_NS, LOOK_NS);
    assertFalse(looks.begin(LOOK_NS));
    assertEquals(8 * LOOK_NS, looks.dueNs());
    assertTrue(looks.begin(8 * LOOK_NS));
  }
}
