package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The data path allocates nothing once it is warm. */
class AllocationTest {
  private static final int OPERATIONS = 1_000;
  private static final long LIMIT_NS = 30_000_000_000L;

  @ParameterizedTest
  @CsvSource({"64, false, ''", "61440, false, ''", "61440, true, ''", "61440, false, 'loss=0.01'"})
  void postPacketsAndPollAllocateNothing(int bytes, boolean standardPeers, String faults) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (SoftPair pair = new SoftPair(faults, 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, standardPeers, 16);
      b.postEmptyReceives(1, 200);
      SendWorkRequest wr =
          pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, bytes, pair.right);
      /* Foreign calls box until they are compiled, which takes as long as it takes on a busy machine: batches, until one
      has allocated nothing. A path that allocates never gets there. */
      long allocated = -1;
      long start = System.nanoTime();
      while (allocated != 0 && System.nanoTime() - start < LIMIT_NS) {
        long before = threads.getCurrentThreadAllocatedBytes();
        run(pair, a, b, wr, OPERATIONS);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      assertEquals(0, allocated, "bytes allocated by " + OPERATIONS + " operations");
    }
  }

  private static void run(
      SoftPair pair, QueuePair a, QueuePair b, SendWorkRequest wr, int operations) {
    int posted = 0;
    int completed = 0;
    int received = 0;
    while (completed < operations || received < operations) {
      if (posted < operations && posted - completed < 20) {
        posted += a.postSend(wr);
      }
      pair.progress();
      completed += pair.left.cq.poll(pair.left.one);
      int taken = pair.right.cq.poll(pair.right.one);
      if (taken == 1) {
        received++;
        b.postEmptyReceives(1, 1);
      }
    }
  }
}
