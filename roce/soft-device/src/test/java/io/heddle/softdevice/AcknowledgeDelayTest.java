package io.heddle.softdevice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AcknowledgeDelayTest {
  private static final int ROUND_TRIPS = 500;

  @Test
  void whatWasCarriedMayWaitLongerAndWhatWaitedInVainShorter() {
    AcknowledgeDelay delay = new AcknowledgeDelay();
    assertEquals(4, delay.rounds());
    for (int i = 0; i < 10; i++) {
      delay.carried();
    }
    assertEquals(16, delay.rounds());
    delay.waitedInVain();
    assertEquals(8, delay.rounds());
    for (int i = 0; i < 10; i++) {
      delay.waitedInVain();
    }
    assertEquals(1, delay.rounds());
  }

  @Test
  void aLongerWaitIsTriedAgainNowAndThen() {
    AcknowledgeDelay delay = new AcknowledgeDelay();
    int trials = 0;
    for (int i = 0; i < 1000; i++) {
      trials += delay.rounds() > 1 ? 1 : 0;
      delay.waitedInVain();
      delay.waitedInVain();
    }
    assertTrue(trials > 5 && trials < 30, trials + " of 1000");
  }

  @Test
  void whereNobodyMakesRoundsTheNextOnesGoOutAtOnceAndMoreOfThemEachTime() {
    AcknowledgeDelay delay = new AcknowledgeDelay();
    assertEquals(64, atOnce(delay));
    assertEquals(128, atOnce(delay));
    delay.carried();
    assertEquals(64, atOnce(delay));
    for (int i = 0; i < 20; i++) {
      atOnce(delay);
    }
    assertEquals(4096, atOnce(delay));
  }

  private static int atOnce(AcknowledgeDelay delay) {
    delay.stranded();
    int count = 0;
    while (delay.rounds() == 0) {
      count++;
    }
    return count;
  }

  /* Ping-pong: an answer carries the acknowledgement of what it answers. */
  @ParameterizedTest
  @ValueSource(ints = {0, 8, 200, 1024})
  void anAnswerCarriesTheAcknowledgement(int bytes) {
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      assertEquals(0, a.postEmptyReceives(0, 250));
      assertEquals(0, b.postEmptyReceives(0, 250));
      for (int i = 0; i < ROUND_TRIPS; i++) {
        send(pair.left, a, pair.right, i, bytes);
        receive(pair, pair.right, b, bytes);
        send(pair.right, b, pair.left, i, bytes);
        receive(pair, pair.left, a, bytes);
      }
      long carried =
          pair.left.context.engine().counters.acknowledgementsCarried()
              + pair.right.context.engine().counters.acknowledgementsCarried();
      /* The background threads take part too, the more the busier the machine is. */
      assertTrue(carried > ROUND_TRIPS / 4, carried + " of " + 2 * ROUND_TRIPS);
    }
  }

  private static void send(SoftPair.Side from, QueuePair qp, SoftPair.Side to, int id, int bytes) {
    assertEquals(
        1, qp.postSend(from.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, id, 0, bytes, to)));
  }

  /* Send completions come in between. */
  private static void receive(SoftPair pair, SoftPair.Side side, QueuePair qp, int bytes) {
    WorkCompletion wc = pair.await(side);
    while (wc.kind != Kind.RECEIVE_RDMA_WITH_IMMEDIATE) {
      assertEquals(Status.SUCCESS, wc.status);
      wc = pair.await(side);
    }
    assertEquals(Status.SUCCESS, wc.status);
    assertEquals(bytes, wc.lengthBytes);
    assertEquals(0, qp.postEmptyReceives(0, 1));
  }
}
