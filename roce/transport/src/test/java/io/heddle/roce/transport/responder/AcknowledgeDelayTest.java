package io.heddle.roce.transport.responder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AcknowledgeDelayTest {
  @Test
  void delayGrowsWhenCarriedAndShrinksWhenExpired() {
    AcknowledgeDelay delay = new AcknowledgeDelay();
    assertEquals(4, delay.rounds());
    for (int i = 0; i < 10; i++) {
      delay.onCarried();
    }
    assertEquals(16, delay.rounds());
    delay.waitExpired();
    assertEquals(8, delay.rounds());
    for (int i = 0; i < 10; i++) {
      delay.waitExpired();
    }
    assertEquals(1, delay.rounds());
  }

  @Test
  void longerDelayIsTriedPeriodically() {
    AcknowledgeDelay delay = new AcknowledgeDelay();
    int trials = 0;
    for (int i = 0; i < 1000; i++) {
      trials += delay.rounds() > 1 ? 1 : 0;
      delay.waitExpired();
      delay.waitExpired();
    }
    assertTrue(trials > 5 && trials < 30, trials + " of 1000");
  }

  @Test
  void withoutCallersDelayBacksOff() {
    AcknowledgeDelay delay = new AcknowledgeDelay();
    assertEquals(64, atOnce(delay));
    assertEquals(128, atOnce(delay));
    delay.onCarried();
    assertEquals(64, atOnce(delay));
    for (int i = 0; i < 20; i++) {
      atOnce(delay);
    }
    assertEquals(4096, atOnce(delay));
  }

  private static int atOnce(AcknowledgeDelay delay) {
    delay.waitFailed();
    int count = 0;
    while (delay.rounds() == 0) {
      count++;
    }
    return count;
  }
}
