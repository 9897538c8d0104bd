package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.platform.testing.Deadline;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that acknowledgements of small messages between soft devices are sent with other packets.
 */
class CarriedAcknowledgementsTest {
  private static final int ROUND_TRIPS = 500;

  /* In a ping-pong, a response carries the acknowledgement of its request. */
  @ParameterizedTest
  @ValueSource(ints = {0, 8, 200, 1024})
  void responseCarriesAcknowledgement(int bytes) {
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      assertEquals(0, a.postEmptyReceives(0, 250));
      assertEquals(0, b.postEmptyReceives(0, 250));
      /*
       * The progress threads send acknowledgements too, without a packet that carries them, and
       * more often on a busy machine.
       */
      Deadline deadline = Deadline.ofSeconds(20);
      for (int i = 0; i < ROUND_TRIPS || acknowledgementsCarried(pair) <= ROUND_TRIPS / 4; i++) {
        assertFalse(deadline.isOver(), acknowledgementsCarried(pair) + " of " + 2 * i);
        send(pair.left, a, pair.right, i, bytes);
        receive(pair, pair.right, b, bytes);
        send(pair.right, b, pair.left, i, bytes);
        receive(pair, pair.left, a, bytes);
      }
    }
  }

  /*
   * Two processes write to each other. Each direction has its own queue pairs, whose receiving end
   * never sends data.
   */
  @Test
  void bundleCarriesAcknowledgementOfOtherQueuePair() {
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      QueuePair forward = pair.left.createQueuePair();
      QueuePair forwardPeer = pair.right.createQueuePair();
      QueuePair backward = pair.right.createQueuePair();
      QueuePair backwardPeer = pair.left.createQueuePair();
      pair.connect(forward, forwardPeer, PathMtu.MTU_1024, false, 16);
      pair.connect(backwardPeer, backward, PathMtu.MTU_1024, false, 16);
      assertEquals(0, forwardPeer.postEmptyReceives(0, 250));
      assertEquals(0, backwardPeer.postEmptyReceives(0, 250));
      Deadline deadline = Deadline.ofSeconds(20);
      for (int i = 0; i < ROUND_TRIPS || acknowledgementsCarried(pair) <= ROUND_TRIPS / 4; i++) {
        assertFalse(deadline.isOver(), acknowledgementsCarried(pair) + " of " + 2 * i);
        send(pair.left, forward, pair.right, i, 8);
        receive(pair, pair.right, forwardPeer, 8);
        send(pair.right, backward, pair.left, i, 8);
        receive(pair, pair.left, backwardPeer, 8);
      }
    }
  }

  /*
   * The response uses another plane than the request, so it can't carry the request's
   * acknowledgement.
   */
  @Test
  void otherPlanesPacketCarriesNoAcknowledgement() {
    try (SoftPair pair = new SoftPair("", 2, 1 << 16)) {
      QueuePair forward = pair.left.createQueuePair();
      QueuePair forwardPeer = pair.right.createQueuePair();
      QueuePair backward = pair.right.createQueuePair();
      QueuePair backwardPeer = pair.left.createQueuePair();
      pair.connectOver(0, forward, forwardPeer, PathMtu.MTU_1024);
      pair.connectOver(1, backwardPeer, backward, PathMtu.MTU_1024);
      assertEquals(0, forwardPeer.postEmptyReceives(0, 250));
      assertEquals(0, backwardPeer.postEmptyReceives(0, 250));
      for (int i = 0; i < ROUND_TRIPS; i++) {
        send(pair.left, forward, pair.right, i, 8);
        receive(pair, pair.right, forwardPeer, 8);
        send(pair.right, backward, pair.left, i, 8);
        receive(pair, pair.left, backwardPeer, 8);
      }
      assertEquals(0, acknowledgementsCarried(pair));
    }
  }

  private static long acknowledgementsCarried(SoftPair pair) {
    return pair.left.context.engine().counters.acknowledgementsCarried()
        + pair.right.context.engine().counters.acknowledgementsCarried();
  }

  private static void send(SoftPair.Side from, QueuePair qp, SoftPair.Side to, int id, int bytes) {
    assertEquals(
        1, qp.postSend(from.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, id, 0, bytes, to)));
  }

  /* Waits for the completion of a receive. Skips completions of sends. */
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
