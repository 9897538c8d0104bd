package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.roce.transport.Pause;
import org.junit.jupiter.api.Test;

class TimerScanScheduleTest {
  private static final long SCAN_NS = 1_000;
  private static final long ROUND_NS = 100;

  private final TimerScanSchedule schedule = new TimerScanSchedule(0);

  @Test
  void noScanBeforeDueTime() {
    assertFalse(schedule.begin(50));
    schedule.requestAt(100);
    schedule.requestAt(200);
    assertEquals(100, schedule.dueNs());
    assertFalse(schedule.begin(99));
    assertTrue(schedule.begin(100));
    assertEquals(Pause.NEVER_NS, schedule.dueNs());
  }

  @Test
  void nextScanIsDueAtEarliestRequest() {
    schedule.requestAt(100);
    assertTrue(schedule.begin(100));
    schedule.requestAt(300);
    schedule.end(100, 101, 400);
    assertEquals(300, schedule.dueNs());
  }

  @Test
  void scansTakeAnEighthOfTimeUnderLoad() {
    long nowNs = 0;
    long scannedNs = 0;
    while (nowNs < 1_000 * SCAN_NS) {
      schedule.requestAt(nowNs);
      if (schedule.begin(nowNs)) {
        schedule.end(nowNs, nowNs + SCAN_NS, nowNs);
        nowNs += SCAN_NS;
        scannedNs += SCAN_NS;
      }
      nowNs += ROUND_NS;
    }
    double share = scannedNs / (double) nowNs;
    assertTrue(share > 0.1 && share <= 0.125, share + " of the time");
  }

  @Test
  void sleeperIsNotWokenDuringPause() {
    schedule.requestAt(0);
    assertTrue(schedule.begin(0));
    schedule.end(0, SCAN_NS, SCAN_NS);
    assertFalse(schedule.begin(SCAN_NS));
    assertEquals(8 * SCAN_NS, schedule.dueNs());
    assertTrue(schedule.begin(8 * SCAN_NS));
  }
}
