package io.heddle.spray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PlaneRatesTest {
  private static final int CHUNK = 61_440;
  private static final long MS = 1_000_000;
  private static final long START = -5 * MS;

  private final PlaneRates rates = new PlaneRates(2, 256, CHUNK);

  private void carry(int plane, int chunks, long tookNs) {
    for (int chunk = 1; chunk <= chunks; chunk++) {
      rates.started(plane, (long) chunk * CHUNK);
    }
    long from = rates.nowNs();
    for (int chunk = 1; chunk <= chunks; chunk++) {
      rates.setTime(from + tookNs * chunk / chunks);
      rates.finished(plane);
    }
  }

  private double rate(int plane) {
    return rates.bytesPerNs(plane, rates.fastest());
  }

  @Test
  void rateIsBytesInFlightDividedByTheirTime() {
    rates.setTime(START);
    assertEquals(0, rate(0));
    carry(0, 10, 10 * MS);
    assertEquals((double) CHUNK / MS, rate(0), 1e-9);
    assertEquals(0, rate(1));
  }

  @Test
  void overdueChunkLowersTheRateBeforeItsAcknowledgement() {
    rates.setTime(START);
    carry(0, 10, 10 * MS);
    rates.started(0, CHUNK);
    rates.setTime(START + 11 * MS);
    rates.onPolled();
    rates.started(1, CHUNK);
    assertEquals((double) CHUNK / MS, rate(0), 1e-9);
    rates.setTime(START + 18 * MS);
    rates.onPolled();
    assertEquals((double) CHUNK / MS, rate(0), 1e-9, "nothing has overtaken it");
    rates.finished(1);
    assertEquals((double) CHUNK / MS / 8, rate(0), 1e-9);
    rates.setTime(START + 100 * MS);
    assertEquals((double) CHUNK / MS / 8, rate(0), 1e-9, "nothing was polled since");
  }

  @Test
  void idleSlowPlaneFinallyCountsAsFastest() {
    rates.setTime(START);
    carry(0, 1, MS);
    carry(1, 1, 4 * MS);
    rates.setTime(START + 5 * MS + 32 * MS);
    assertEquals((double) CHUNK / MS / 2, rate(1), 1e-9);
    rates.setTime(START + 5 * MS + 1_000_000 * MS);
    assertEquals((double) CHUNK / MS, rate(1), 1e-9);
    assertEquals((double) CHUNK / MS, rate(0), 1e-9);
  }

  @Test
  void chunksInFlightWhenAPlaneIsForgottenAreIgnored() {
    rates.setTime(START);
    carry(0, 4, 40 * MS);
    rates.started(0, CHUNK);
    rates.started(0, 2 * CHUNK);
    rates.forget(0);
    rates.started(0, 3 * CHUNK);
    rates.setTime(START + 100 * MS);
    rates.finished(0);
    rates.finished(0);
    assertEquals(0, rate(0));
    rates.finished(0);
    assertEquals(3 * CHUNK / (60.0 * MS), rate(0), 1e-9);
  }

  @Test
  void lostPlaneHasNothingInFlight() {
    rates.setTime(START);
    rates.started(0, CHUNK);
    assertTrue(rates.isAnyInFlight());
    rates.lost(0);
    assertFalse(rates.isAnyInFlight());
    rates.finished(0);
    assertEquals(0, rate(0));
    carry(0, 2, 2 * MS);
    assertEquals((double) CHUNK / MS, rate(0), 1e-9);
  }

  private void pollAt(long ns) {
    rates.setTime(START + ns);
    rates.onPolled();
  }

  @Test
  void callerIsLateOnlyWhileChunksAreInFlight() {
    rates.setTime(START);
    pollAt(0);
    rates.setTime(START + 100 * MS);
    assertEquals(0, rates.callerPollIntervalNs(), "nothing was in flight");
    rates.started(0, CHUNK);
    for (int poll = 1; poll <= 500; poll++) {
      pollAt(100 * MS + poll * MS / 10);
    }
    assertEquals(MS / 10.0, rates.callerPollIntervalNs(), 1, "a plane may take 50 ms");
    rates.setTime(START + 170 * MS);
    rates.started(0, CHUNK);
    pollAt(180 * MS);
    assertEquals(30.0 * MS, rates.callerPollIntervalNs(), 1, "posting is not polling");
    rates.finished(0);
    rates.finished(0);
    pollAt(200 * MS);
    pollAt(10_000 * MS);
    assertEquals(0, rates.callerPollIntervalNs(), "long ago");
  }

  @Test
  void shortestTimeFollowsAPathThatHasBecomeLonger() {
    rates.setTime(START);
    carry(0, 1, MS);
    carry(0, 64, 64 * MS);
    assertEquals(MS, rates.shortestNs(0), 0.1 * MS, "a long queue hides the path");
    for (int message = 0; message < 400; message++) {
      carry(0, 1, 20 * MS);
    }
    assertEquals(20 * MS, rates.shortestNs(0), 1);
  }

  @Test
  void ringsHoldAsManyChunksAsTheQueuesAfterManyWraps() {
    rates.setTime(START);
    for (int round = 0; round < 1_000; round++) {
      carry(round & 1, 256, 256 * MS);
      assertEquals((double) CHUNK / MS, rate(round & 1), 1e-9);
    }
    assertFalse(rates.isAnyInFlight());
  }
}
