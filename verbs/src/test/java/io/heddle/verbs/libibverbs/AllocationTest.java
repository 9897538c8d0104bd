package io.heddle.verbs.libibverbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.testing.Deadline;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.testing.Endpoint;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Tests that posting and polling allocate nothing once they are compiled. */
@EnabledIf(
    value = "io.heddle.verbs.libibverbs.TestDevices#arePresent",
    disabledReason = "libibverbs lists no device here")
class AllocationTest {
  private static final int OPERATIONS = 1_000;
  private static final long LIMIT_SECONDS = 30;

  @Test
  void postAndPollAllocateNothing() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    LeakLedger ledger = new LeakLedger();
    try (DeviceContext leftContext = TestDevices.openLeft(ledger);
        DeviceContext rightContext = TestDevices.openRight(ledger);
        Endpoint left = new Endpoint(leftContext, TestDevices.gidIndex(leftContext), 1 << 16);
        Endpoint right = new Endpoint(rightContext, TestDevices.gidIndex(rightContext), 1 << 16)) {
      Endpoint.connect(left, right);
      SendWorkRequest wr = left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 64, right);
      wr.next = left.request(Operation.RDMA_WRITE, 2, 64, right);
      assertEquals(0, right.qp.postEmptyReceives(3, 64));
      WorkCompletion[] batch = WorkCompletion.batch(16);
      /*
       * Foreign calls box their arguments until they are compiled. So batches run until one of them
       * allocates nothing.
       */
      long allocated = -1;
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      while (allocated != 0 && !deadline.isOver()) {
        long before = threads.getCurrentThreadAllocatedBytes();
        run(left, right, wr, batch);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      assertEquals(0, allocated, "bytes allocated by " + OPERATIONS + " operations");
    }
  }

  private static void run(
      Endpoint left, Endpoint right, SendWorkRequest wr, WorkCompletion[] batch) {
    int posted = 0;
    int completed = 0;
    int received = 0;
    while (completed < 2 * OPERATIONS || received < OPERATIONS) {
      if (posted < 2 * OPERATIONS && posted - completed < 32) {
        posted += left.qp.postSend(wr);
      }
      completed += left.cq.poll(batch);
      int taken = right.cq.poll(batch);
      received += taken;
      if (taken > 0) {
        right.qp.postEmptyReceives(3, taken);
      }
    }
  }
}
