package io.heddle.softdevice.queue;

import com.sun.management.ThreadMXBean;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.TestShim;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import java.lang.management.ManagementFactory;

/**
 * Separate program that uses the shim's system calls, as the plugin does. Its arguments are {@code
 * BYTES STANDARD-PEERS FAULTS}. Prints the bytes allocated by the last batch of operations.
 */
final class AllocationRun {
  private static final int OPERATIONS = 1_000;
  private static final long LIMIT_SECONDS = 30;

  private AllocationRun() {}

  public static void main(String[] arguments) {
    TestShim.registerSocketCalls();
    int bytes = Integer.parseInt(arguments[0]);
    boolean standardPeers = Boolean.parseBoolean(arguments[1]);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (SoftPair pair = new SoftPair(arguments[2], 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, standardPeers, 16);
      b.postEmptyReceives(1, 200);
      SendWorkRequest wr =
          pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, bytes, pair.right);
      /*
       * Runs batches until one allocates nothing. Foreign calls box their arguments until they are
       * compiled, which may take long on a busy machine. If the path allocates, the limit ends the
       * loop.
       */
      long allocated = -1;
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      while (allocated != 0 && !deadline.isOver()) {
        long before = threads.getCurrentThreadAllocatedBytes();
        run(pair, a, b, wr);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      System.out.println(allocated);
    }
  }

  private static void run(SoftPair pair, QueuePair a, QueuePair b, SendWorkRequest wr) {
    int posted = 0;
    int completed = 0;
    int received = 0;
    while (completed < OPERATIONS || received < OPERATIONS) {
      if (posted < OPERATIONS && posted - completed < 20) {
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
