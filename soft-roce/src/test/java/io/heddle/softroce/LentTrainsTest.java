package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Trains whose pages the kernel reads where they were made: until the peer has them they stay as
 * they were sent.
 */
class LentTrainsTest {
  private static final int BYTES = 1 << 20;

  @BeforeEach
  void assumeLending() {
    try (SoftPair pair = new SoftPair("", 4096)) {
      if (!pair.left.context.engine().lendsPages()) {
        String why = "this kernel copies what comes out of a pipe";
        System.out.println("skipped: " + why);
        Assumptions.abort(why);
      }
    }
  }

  private static byte[] fill(SoftPair pair, Random random) {
    byte[] wanted = new byte[BYTES];
    random.nextBytes(wanted);
    MemorySegment.copy(MemorySegment.ofArray(wanted), 0, Memory.ALL, pair.left.mr.address(), BYTES);
    return wanted;
  }

  private static long dropped(SoftPair.Side side, DropCounters.Reason reason) {
    return side.context.engine().counters.drops().get(reason);
  }

  /* What waits in the peer's socket is read by it after the sender has asked again. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsAskedAboutWhileItWaitsStaysAsItWasSent(boolean standard) throws Exception {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      pair.connect(a, pair.right.createQueuePair(), PathMtu.MTU_4096, standard, 14);
      for (int round = 0; round < 5; round++) {
        byte[] wanted = fill(pair, new Random(round));
        Engine stalled = pair.right.context.engine();
        long before = a.resentPackets();
        stalled.lock.lock();
        try {
          a.postSend(pair.left.request(Operation.RDMA_WRITE, round, 0, BYTES, pair.right));
          long start = System.nanoTime();
          while (System.nanoTime() - start < 200_000_000L) {
            pair.left.context.progress();
          }
        } finally {
          stalled.unlock();
        }
        assertTrue(a.resentPackets() > before, "it has asked");
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
        byte[] got = Memory.toArray(pair.right.mr.address(), BYTES);
        assertArrayEquals(wanted, got);
      }
      assertEquals(0, dropped(pair.right, DropCounters.Reason.BAD_CHECKSUM));
    }
  }
}
