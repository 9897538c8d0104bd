package io.heddle.roce.transport.window;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.ReadyToSendAttributes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryTimerTest {
  private static final long MS = 1_000_000;

  private final RoundTrip roundTrip = new RoundTrip();
  private final RetryTimer timer = new RetryTimer(roundTrip);

  private void start(int timeoutCode, int retries) {
    roundTrip.reset();
    timer.reset(new ReadyToSendAttributes(1, timeoutCode, retries, 7), 0);
  }

  /* Number of expiries before the timer gave up, counted by giveUpTimeAfter(). */
  private int probes;

  private long giveUpTimeAfter(long fromNs) {
    return giveUpTimeAfter(fromNs, 0);
  }

  /*
   * Runs the timer until it gives up, and returns the time until then. The first expiry is handled
   * {@code lateNs} late.
   */
  private long giveUpTimeAfter(long fromNs, long lateNs) {
    long nowNs = fromNs;
    timer.arm(nowNs);
    for (probes = 0; probes < 1000; probes++) {
      nowNs = timer.dueNs() + (probes == 0 ? lateNs : 0);
      timer.onExpiry(nowNs, nowNs, nowNs);
      if (timer.isExhausted(nowNs)) {
        return nowNs - fromNs;
      }
      timer.timedOut();
      timer.arm(nowNs);
    }
    return Long.MAX_VALUE;
  }

  /*
   * The caller's time is 4.096 µs · 2^code · (retries + 1), if three probes two milliseconds apart
   * fit into it.
   */
  @ParameterizedTest
  @CsvSource({"12, 7, 134", "14, 7, 537", "18, 7, 8590", "20, 1, 8590", "17, 0, 537"})
  void silentPathIsGivenUpAfterCallersTime(int timeoutCode, int retries, long milliseconds) {
    for (long measuredUs : new long[] {0, 50, 10_000, 300_000}) {
      start(timeoutCode, retries);
      if (measuredUs > 0) {
        roundTrip.sample(measuredUs * 1000);
      }
      long after = giveUpTimeAfter(77);
      assertEquals(milliseconds, Math.round(after / 1e6), 1.0, measuredUs + " us measured");
      assertTrue(probes >= Math.min(retries, 2) + 1, probes + " questions");
      assertTrue(probes < 20, probes + " questions");
    }
  }

  @Test
  void shortTimeIsExtendedToThreeProbes() {
    start(1, 7);
    long after = giveUpTimeAfter(0);
    assertTrue(after >= 6 * MS && after < 40 * MS, "gave up after " + after);
    assertTrue(probes >= 3, probes + " questions");
  }

  @Test
  void progressRestartsTime() {
    start(12, 7);
    timer.arm(0);
    for (int i = 0; i < 4; i++) {
      timer.timedOut();
    }
    timer.onProgress(100 * MS);
    assertFalse(timer.isExhausted(180 * MS));
    assertEquals(134, Math.round(giveUpTimeAfter(100 * MS) / 1e6), 1.0);
  }

  @Test
  void ownSuspensionIsNotPeersSilence() {
    start(14, 7);
    roundTrip.sample(50_000);
    assertEquals(10_000 + 537, Math.round(giveUpTimeAfter(77, 10_000 * MS) / 1e6), 1.0);
  }

  @Test
  void probeCountsOnlyIfPeerAnswersElsewhere() {
    roundTrip.reset();
    timer.reset(new ReadyToSendAttributes(1, 14, 7, 7, 1), 77);
    long nowNs = 77;
    timer.arm(nowNs);
    for (int i = 0; i < 100; i++) {
      long askedNs = nowNs;
      nowNs = timer.dueNs();
      timer.onExpiry(askedNs, 0, nowNs);
      assertFalse(timer.isExhausted(nowNs));
      assertEquals(nowNs - 77 >= 536_870_912, timer.isLimitSuspended(nowNs), "question " + i);
      timer.timedOut();
      timer.arm(nowNs);
    }
    for (int witnesses = 1; witnesses <= 3; witnesses++) {
      long askedNs = nowNs;
      nowNs = timer.dueNs();
      timer.onExpiry(askedNs + 1, 0, nowNs);
      assertFalse(timer.isLimitSuspended(nowNs));
      assertEquals(witnesses == 3, timer.isExhausted(nowNs), witnesses + " witnesses");
      timer.timedOut();
      timer.arm(nowNs);
    }
    timer.onProgress(nowNs);
    assertFalse(timer.isExhausted(nowNs + 10_000 * MS));
  }

  /*
   * At each expiry, the newest packet that reached the peer on any path was sent {@code agoMs}
   * before.
   */
  @ParameterizedTest
  @CsvSource({
    "1, 537, 605",
    "100, 637, 705",
    "400, 937, 1200",
    "1200, 1737, 2215",
    "5000, 2147, 2215"
  })
  void silenceEndsAtNewestPacketThatReachedPeer(long agoMs, long afterMs, long latestMs) {
    roundTrip.reset();
    timer.reset(new ReadyToSendAttributes(1, 14, 7, 7, 1), 77);
    long nowNs = 77;
    timer.arm(nowNs);
    do {
      nowNs = timer.dueNs();
      timer.onExpiry(nowNs, nowNs - agoMs * MS, nowNs);
      timer.timedOut();
      timer.arm(nowNs);
    } while (!timer.isExhausted(nowNs));
    assertTrue(nowNs >= afterMs * MS - MS, "after " + nowNs);
    assertTrue(nowNs <= latestMs * MS, "after " + nowNs);
  }

  @Test
  void withoutTimeoutProbesForEver() {
    start(0, 7);
    assertEquals(Long.MAX_VALUE, giveUpTimeAfter(0));
  }
}
