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
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Trains whose pages the kernel reads where they were made: until the peer has them they stay as
 * they were sent.
 */
class LentTrainsTest {
  private static final int BYTES = 1 << 20;

  private static void assumeLending() {
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
    assumeLending();
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

  /* What the devices of a pair count when one has written to the other. */
  private static Map<String, Long> countOfWrites(int writes) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      pair.connect(a, pair.right.createQueuePair(), PathMtu.MTU_4096, false, 14);
      for (int i = 0; i < writes; i++) {
        byte[] wanted = fill(pair, new Random(i));
        a.postSend(pair.left.request(Operation.RDMA_WRITE, i, 0, BYTES, pair.right));
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
        assertArrayEquals(wanted, Memory.toArray(pair.right.mr.address(), BYTES));
      }
      Map<String, Long> counted = new HashMap<>();
      pair.left.context.readCounters(counted::put);
      pair.right.context.readCounters((name, value) -> {
        if (name.startsWith("trains_")) {
          assertEquals(0, value, name + " of the one that only answers");
        }
      });
      return counted;
    }
  }

  @Test
  void aDeviceCountsTheLargeTrainsThatItLends() {
    assumeLending();
    Map<String, Long> counted = countOfWrites(3);
    assertEquals(0, counted.get("trains_copied"));
    long most = 3 * BYTES / (1 << 15);
    long least = 3 * BYTES / TransmitRing.SLOT_BYTES;
    long lent = counted.get("trains_lent");
    assertTrue(lent >= least && lent <= most, lent + " trains");
  }

  @Test
  void onAnOlderKernelItCountsThemAsCopied() {
    String kernel = System.getProperty("os.version");
    System.setProperty("os.version", "5.15.0-91-generic");
    try {
      Map<String, Long> counted = countOfWrites(3);
      assertEquals(0, counted.get("trains_lent"));
      assertTrue(counted.get("trains_copied") >= 3 * BYTES / TransmitRing.SLOT_BYTES);
    } finally {
      System.setProperty("os.version", kernel);
    }
  }
}
