package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.OneSidedOperation;
import io.heddle.verbs.testing.LoopbackFabric;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that isend, irecv, puts, gets and progress allocate nothing after warm-up. */
class TransportAllocationTest {
  private static final int OPERATIONS = 500;
  private static final long LIMIT_SECONDS = 20;

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "spray, 64",
    "spray, 1048576",
    "pinned, 1048576",
    "least-in-flight, 1048576",
    "spraylink, 1048576",
    "hash, 1048576"
  })
  void sendingAndReceivingAllocateNothing(String policy, int bytes) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<Integer> planes = List.of(1, 2, 3, 4);
    try (Ends ends =
            new Ends(
                new LoopbackFabric(7), folder, planes, planes, Map.of("HEDDLE_POLICY", policy));
        Ends.Link link = ends.connect()) {
      long from = ends.memory(bytes);
      long to = ends.memory(bytes);
      long fromHandle = link.sender().registerMemory(from, bytes, 1);
      long toHandle = link.receiver().registerMemory(to, bytes, 1);
      long arrays = ends.arrays(to, bytes, 1, toHandle);
      long allocated = -1;
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      while (allocated != 0 && !deadline.isOver()) {
        long before = threads.getCurrentThreadAllocatedBytes();
        run(link, arrays, from, bytes, fromHandle);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      assertEquals(0, allocated, "bytes allocated by " + OPERATIONS + " messages");
    }
  }

  private static void run(Ends.Link link, long arrays, long from, int bytes, long handle) {
    SendComm sender = link.sender();
    RecvComm receiver = link.receiver();
    for (int i = 0; i < OPERATIONS; i++) {
      long receive = 0;
      while (receive == 0) {
        receive = receiver.irecv(1, arrays, arrays + 64, arrays + 128, arrays + 192);
      }
      long send = 0;
      while (send == 0) {
        send = sender.isend(from, bytes, 1, handle);
        receiver.progress();
      }
      while (Ends.state(receive) == 0 || Ends.state(send) == 0) {
        sender.progress();
        receiver.progress();
      }
      Ends.release(receive);
      Ends.release(send);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "spray, 0, false",
    "spray, 64, false",
    "spray, 1048576, false",
    "pinned, 1048576, false",
    "spray, 64, true",
    "spray, 1048576, true"
  })
  void putsSignalsAndGetsAllocateNothing(String policy, int bytes, boolean get) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<Integer> planes = List.of(1, 2, 3, 4);
    try (Ends ends =
            new Ends(
                new LoopbackFabric(7), folder, planes, planes, Map.of("HEDDLE_POLICY", policy));
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, 4096 + bytes, ends.arena)) {
      OneSidedOperation operation = OneSidedRanks.put(bytes, 4096);
      operation.get = get;
      if (!get) {
        OneSidedRanks.signal(operation, OneSidedOperation.Signal.STRONG, 0, 1);
      }
      long allocated = -1;
      Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
      while (allocated != 0 && !deadline.isOver()) {
        long before = threads.getCurrentThreadAllocatedBytes();
        run(ranks, operation);
        allocated = threads.getCurrentThreadAllocatedBytes() - before;
      }
      assertEquals(0, allocated, "bytes allocated by " + OPERATIONS + " operations");
    }
  }

  private static void run(OneSidedRanks ranks, OneSidedOperation operation) {
    OneSidedGroup from = ranks.groups.get(0);
    OneSidedGroup to = ranks.groups.get(1);
    for (int i = 0; i < OPERATIONS; i++) {
      long request = from.start(1, 0, 4096, operation);
      while (Ends.state(request) == 0) {
        from.progress();
        to.progress();
      }
      Ends.release(request);
    }
  }
}
