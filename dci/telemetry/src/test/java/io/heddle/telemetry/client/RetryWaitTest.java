package io.heddle.telemetry.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests of the waits between connection attempts. */
final class RetryWaitTest {
  private final RetryWait wait = new RetryWait(new SplittableRandom(1));

  @Test
  void waitsDoubleToTwoSecondsAndStayThere() {
    long most = 500;
    for (int i = 0; i < 100; i++) {
      long waitMs = wait.nextMs();
      assertTrue(waitMs >= most / 2 && waitMs <= most, waitMs + " ms, at most " + most);
      most = Math.min(2 * most, RetryWait.LONGEST_MS);
    }
    assertEquals(2_000, most);
  }

  @Test
  void answerResetsTheWait() {
    for (int i = 0; i < 10; i++) {
      wait.nextMs();
    }
    wait.reset();
    assertTrue(wait.nextMs() <= 500);
  }

  @Test
  void retriesOfClientsAreSpread() {
    List<Long> waits = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      waits.add(wait.nextMs());
    }
    assertTrue(new HashSet<>(waits).size() > 10, waits.toString());
  }
}
