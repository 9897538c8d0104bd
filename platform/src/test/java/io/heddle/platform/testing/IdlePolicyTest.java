package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class IdlePolicyTest {
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(10);

  private long nowNs = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5); /* overflows in the tests */
  private long stalledNs;
  private final Deadline deadline = new Deadline(LIMIT_NS, () -> nowNs, () -> stalledNs);

  private void pass(long seconds, double stalledShare) {
    nowNs += TimeUnit.SECONDS.toNanos(seconds);
    stalledNs += (long) (TimeUnit.SECONDS.toNanos(seconds) * stalledShare);
  }

  @Test
  void endsAtLimitOnIdleMachine() {
    pass(9, 0);
    assertFalse(deadline.isOver());
    pass(2, 0);
    assertTrue(deadline.isOver());
  }

  @Test
  void lastsLongerUnderCpuPressure() {
    pass(18, 0.5);
    assertFalse(deadline.isOver());
    pass(4, 0.5);
    assertTrue(deadline.isOver());
  }

  @Test
  void limitHoldsOnAnyBusyMachine() {
    pass(79, 1);
    assertFalse(deadline.isOver());
    pass(2, 1);
    assertTrue(deadline.isOver());
  }

  @Test
  void stopwatchCountsAnEighthOfCpuPressure() {
    IdleStopwatch quiet = new IdleStopwatch(() -> nowNs, () -> stalledNs);
    pass(8, 0);
    assertEquals(TimeUnit.SECONDS.toNanos(8), quiet.ns());
    IdleStopwatch busy = new IdleStopwatch(() -> nowNs, () -> stalledNs);
    pass(8, 0.75);
    assertEquals(TimeUnit.SECONDS.toNanos(2), busy.ns());
    pass(8, 1);
    assertEquals(TimeUnit.SECONDS.toNanos(2), busy.ns());
    pass(8, 1);
    assertEquals(TimeUnit.SECONDS.toNanos(3), busy.ns());
  }

  @Test
  void cpuPressureIsParsedInMicroseconds() {
    assertEquals(
        207_118_000,
        CpuPressure.parseStalledNs(
            "some avg10=43.36 avg60=11.94 avg300=10.50 total=207118\n"
                + "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"));
  }

  @Test
  void detectsOnlyEndedProcess() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    assertTrue(Deadline.ofSeconds(60).awaitExit(ended));
    Process sleeping = new ProcessBuilder("sleep", "600").start();
    try {
      assertFalse(Deadline.ofSeconds(0).awaitExit(sleeping));
    } finally {
      sleeping.destroy();
    }
  }

  @Test
  void finalOutputIsRead() throws Exception {
    StringBuilder said = new StringBuilder();
    assertTrue(
        deadline.awaitOutput(
            "good-bye", said::toString, () -> said.append("good-bye").length() > 0));
    assertTrue(deadline.awaitOutput("good", said::toString, () -> false));
    assertFalse(deadline.awaitOutput("more", said::toString, () -> true));
    assertFalse(Deadline.ofSeconds(0).awaitOutput("more", said::toString, () -> false));
  }
}
