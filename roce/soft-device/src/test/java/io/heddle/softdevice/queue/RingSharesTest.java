package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.roce.transport.RingShares;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the limit of outstanding trains that a device's queue pairs share, with a peer that doesn't
 * answer for a while.
 */
class RingSharesTest {
  private static final int BYTES = 1 << 20;
  private static final int ONE_TRAIN = 15 * 4096;

  private static long largeTrains(SoftPair pair) {
    long[] sum = new long[1];
    pair.left.context.readCounters(
        (name, value) -> sum[0] += name.startsWith("trains_") ? value : 0);
    return sum[0];
  }

  private static void write(SoftPair pair, QueuePair qp, int bytes) {
    assertEquals(1, qp.postSend(pair.left.request(Operation.RDMA_WRITE, 0, 0, bytes, pair.right)));
  }

  /* Sends until many rounds in a row have sent nothing. */
  private static void sendUntilBlocked(SoftPair pair) {
    for (int quiet = 0; quiet < 100; quiet++) {
      if (pair.left.context.progress() > 0) {
        quiet = 0;
      }
    }
  }

  private static void awaitAll(SoftPair pair, int count) {
    for (int i = 0; i < count; i++) {
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
    }
  }

  /*
   * Connects queue pairs and writes until the window of each allows a full ring of outstanding
   * trains.
   */
  private static List<QueuePair> connected(SoftPair pair, int count) {
    List<QueuePair> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      QueuePair a = pair.left.createQueuePair();
      pair.connect(a, pair.right.createQueuePair(), PathMtu.MTU_4096, false, 18);
      for (int j = 0; j < 16; j++) {
        write(pair, a, BYTES);
      }
      awaitAll(pair, 16);
      all.add(a);
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {4, 6})
  void queuePairsShareOutstandingLimit(int queuePairs) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> all = connected(pair, queuePairs);
      long before = largeTrains(pair);
      Engine silent = pair.right.context.engine();
      silent.lock.lock();
      try {
        all.forEach(qp -> write(pair, qp, ONE_TRAIN));
        all.forEach(qp -> {
          for (int i = 0; i < 4; i++) {
            write(pair, qp, BYTES);
          }
        });
        sendUntilBlocked(pair);
        assertEquals(RingShares.LEAST, pair.left.context.engine().shares.share());
        long underWay = largeTrains(pair) - before;
        assertTrue(underWay <= RingShares.LEAST * queuePairs, underWay + " trains");
      } finally {
        silent.unlock();
      }
      awaitAll(pair, 5 * queuePairs);
      assertEquals(TransmitRing.SLOTS, pair.left.context.engine().shares.share());
    }
  }

  @Test
  void smallMessagesIgnoreShares() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> all = connected(pair, 4);
      Engine silent = pair.right.context.engine();
      silent.lock.lock();
      try {
        all.forEach(qp -> write(pair, qp, RingShares.LEAST * ONE_TRAIN));
        sendUntilBlocked(pair);
        QueuePair full = all.getLast();
        long before = pair.left.context.engine().counters.packetsSent();
        write(pair, full, 8);
        assertEquals(1, pair.left.context.engine().counters.packetsSent() - before);
      } finally {
        silent.unlock();
      }
      awaitAll(pair, 5);
    }
  }
}
