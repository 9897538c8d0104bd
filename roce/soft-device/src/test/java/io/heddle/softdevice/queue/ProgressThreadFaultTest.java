package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests an error in the progress thread while no caller polls. */
@EndsWithin(60)
class ProgressThreadFaultTest {
  static Stream<Error> errors() {
    return Stream.of(
        new OutOfMemoryError("as asked"),
        new StackOverflowError("as asked"),
        new NoClassDefFoundError("as asked"));
  }

  /* No caller polls the right side: only its progress thread receives, and fails at first. */
  @ParameterizedTest
  @MethodSource("errors")
  void errorIsLoggedAndThreadContinues(Error error) {
    AtomicInteger faults = new AtomicInteger(3);
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      pair.right
          .faults()
          .passOnly(packet -> {
            if (faults.getAndDecrement() > 0) {
              throw error;
            }
            return true;
          });
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 14);
      assertEquals(
          1,
          a.postSend(
              pair.left.request(SendWorkRequest.Operation.RDMA_WRITE, 1, 0, 512, pair.right)));
      while (pair.left.cq.poll(pair.left.one) == 0) {
        pair.left.context.progress();
        LockSupport.parkNanos(1_000_000);
      }
      assertEquals(WorkCompletion.Status.SUCCESS, pair.left.one[0].status);
      assertTrue(faults.get() < 0, "packets met " + faults);
      assertTrue(
          pair.lines.stream().anyMatch(line -> line.contains("continues after: " + error)),
          pair.lines::toString);
    }
  }

  @Test
  void persistentFailureEndsDevice() {
    try (SoftPair pair = new SoftPair("", 4096)) {
      List<AsyncEventListener.Kind> kinds = new CopyOnWriteArrayList<>();
      pair.left.context.engine().reportFatalError();
      pair.left.context.pollAsyncEvents((kind, number) -> kinds.add(kind));
      assertEquals(List.of(AsyncEventListener.Kind.DEVICE_FATAL), kinds);
    }
  }
}
