package io.heddle.spray;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests of {@link IdleCapacity} with two planes: the first is late, the second is idle half of the
 * time.
 */
class IdleCapacityTest {
  private static final int CHUNK = 61_440;
  private static final long MS = 1_000_000;

  private final PlaneWeights weights = PlaneWeights.equal(2);
  private final PlaneLoads loads = new PlaneLoads(2, CHUNK, 16 << 20, 256);
  private long now = 1;

  private void poll(int finishedOfFirst, int finishedOfSecond) {
    now++;
    loads.setTime(now * MS);
    for (int i = 0; i < finishedOfFirst; i++) {
      loads.finished(0, CHUNK);
    }
    for (int i = 0; i < finishedOfSecond; i++) {
      loads.finished(1, CHUNK);
    }
    loads.onPolled();
  }

  private void post(int first, int second) {
    for (int i = 0; i < first; i++) {
      loads.started(0, CHUNK, weights);
    }
    for (int i = 0; i < second; i++) {
      loads.started(1, CHUNK, weights);
    }
  }

  /*
   * Simulates 20 ms. The first plane is busy all the time, the second one in the first 10 ms only.
   * In every millisecond each plane finishes as many chunks as it is given.
   */
  private void round(int firstBesideSecond, int firstAlone, int second) {
    for (int at = 0; at < 10; at++) {
      post(firstBesideSecond, second);
      poll(firstBesideSecond, second);
    }
    for (int at = 0; at < 10; at++) {
      post(firstAlone, 0);
      poll(firstAlone, 0);
    }
  }

  private void rounds(int firstBesideSecond, int firstAlone, int second) {
    loads.setTime(now * MS);
    /* Constant queue of the first plane. */
    post(8, 0);
    for (int i = 0; i < 10; i++) {
      round(firstBesideSecond, firstAlone, second);
    }
  }

  @Test
  void planeSlowByItselfLeavesCapacityIdle() {
    rounds(1, 1, 4);
    assertTrue(loads.isCapacityIdle());
  }

  @Test
  void silentPlaneLeavesCapacityIdle() {
    rounds(1, 0, 4);
    assertTrue(loads.isCapacityIdle());
  }

  @Test
  void planeSharingAResourceLeavesNothingIdle() {
    rounds(2, 6, 4);
    assertFalse(loads.isCapacityIdle());
  }

  @Test
  void shortIdleTimesCountAsAShapersBurst() {
    loads.setTime(now * MS);
    post(8, 0);
    for (int message = 0; message < 40; message++) {
      for (int at = 0; at < 90; at++) {
        post(2, 2);
        poll(2, 2);
      }
      /* The second plane has finished its part; the first plane continues at its own rate. */
      for (int at = 0; at < 10; at++) {
        post(2, 0);
        poll(2, 0);
      }
    }
    assertFalse(loads.isCapacityIdle(), "a twentieth of what both could have carried");
  }

  @Test
  void chunksGivenByEarlierWeightsAreIgnored() {
    loads.setTime(now * MS);
    post(200, 0);
    PlaneWeights next = PlaneWeights.parse("1,4", List.of("if:a", "if:b"));
    loads.onWeightsChanged(weights, next);
    for (int at = 0; at < 10; at++) {
      post(0, 4);
      poll(4, 4);
    }
    for (int at = 0; at < 30; at++) {
      poll(4, 0);
    }
    assertFalse(loads.isCapacityIdle(), "the first empties the queue that it had");
  }

  @Test
  void fewMillisecondsAreNoFinding() {
    loads.setTime(now * MS);
    post(8, 0);
    round(1, 1, 4);
    assertFalse(loads.isCapacityIdle());
  }

  @Test
  void planeWithoutOvertakingIsNotLate() {
    loads.setTime(now * MS);
    post(8, 8);
    poll(0, 8);
    for (int at = 0; at < 100; at++) {
      poll(0, 0);
    }
    assertFalse(loads.isCapacityIdle(), "all was posted at once");
  }

  @Test
  void findingIsValidForALimitedTime() {
    rounds(1, 1, 4);
    loads.setTime((now + 1_000) * MS);
    loads.onPolled();
    assertTrue(loads.isCapacityIdle());
    loads.setTime((now + 10_000) * MS);
    loads.onPolled();
    assertFalse(loads.isCapacityIdle());
  }

  @Test
  void pauseDoesNotCount() {
    rounds(1, 1, 4);
    poll(8, 0);
    assertFalse(loads.isAnyInFlight());
    now += 60_000;
    poll(0, 0);
    assertTrue(loads.isCapacityIdle());
    post(1, 1);
    poll(0, 0);
    now += 6_000;
    poll(1, 1);
    assertFalse(loads.isCapacityIdle());
  }

  @Test
  void newWeightsForgetTheFinding() {
    rounds(1, 1, 4);
    loads.onWeightsChanged(weights, PlaneWeights.equal(2));
    assertFalse(loads.isCapacityIdle());
  }
}
