package io.heddle.softdevice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A peer that is away from its processor, told from a way that is lost: by queue pairs over several
 * ways to it. Who is away holds its device's lock, so that packets lie in its sockets.
 */
class SlowPeerTest {
  private static final int WAYS = 4;
  private static final int BYTES = 3000;
  private static final long PEER = 7;

  /* With seven retries 134 ms in all. */
  private static final int TIMEOUT_CODE = 12;
  private static final long LATE_NS = 400_000_000;

  /* As many as a queue pair that is judged alone gives up after, some times over. */
  private static final long MANY_TIMEOUTS = 40L * WAYS;

  private final SoftPair pair = new SoftPair(null, WAYS, 1 << 16);
  private final List<QueuePair> lefts = new ArrayList<>();
  private final List<QueuePair> rights = new ArrayList<>();

  @AfterEach
  void close() {
    pair.close();
  }

  private void connect(long peer, boolean standard) {
    for (int way = 0; way < WAYS; way++) {
      QueuePair left = pair.left.createQueuePair();
      QueuePair right = pair.right.createQueuePair();
      pair.connectOver(way, left, right, standard, TIMEOUT_CODE, peer);
      lefts.add(left);
      rights.add(right);
    }
  }

  private void write(int way) {
    int taken =
        lefts
            .get(way)
            .postSend(
                pair.left.request(
                    Operation.RDMA_WRITE, way, (long) way * BYTES, BYTES, pair.right));
    assertEquals(1, taken);
  }

  private void cut(int way, boolean on, boolean coming) {
    SoftPair.Side deaf = coming ? pair.left : pair.right;
    deaf.context.engine().lock.lock();
    deaf.faults().cut(way, on);
    deaf.context.engine().unlock();
  }

  private long timeouts() {
    return pair.left.context.engine().counters.timeouts();
  }

  /* The left alone makes progress, the right by its own thread where it has its lock. */
  private void goOnUntil(String what, BooleanSupplier there) {
    long endNs = System.nanoTime() + 60_000_000_000L;
    while (!there.getAsBoolean()) {
      pair.left.context.progress();
      if (System.nanoTime() - endNs > 0) {
        fail("no " + what + " after " + timeouts() + " timeouts");
      }
    }
  }

  private void allArrive() {
    for (int i = 0; i < WAYS; i++) {
      WorkCompletion wc = pair.await(pair.left);
      assertEquals(Status.SUCCESS, wc.status, "of way " + wc.workRequestId);
    }
    for (QueuePair each : lefts) {
      assertEquals(QueuePairState.READY_TO_SEND, each.state());
      assertEquals(0, each.peerSilentNs());
    }
  }

  private void allWait() {
    for (int way = 0; way < WAYS; way++) {
      write(way);
    }
    long before = timeouts();
    goOnUntil("timeouts", () -> timeouts() - before >= MANY_TIMEOUTS);
    for (QueuePair each : lefts) {
      assertEquals(QueuePairState.READY_TO_SEND, each.state(), each.toString());
      assertTrue(each.peerSilentNs() > 134_000_000, each + " for " + each.peerSilentNs());
    }
    assertEquals(WAYS, pair.left.context.engine().counters.peerWaits());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void suspendedPeerIsProbedWithoutLimit(boolean standard) {
    connect(PEER, standard);
    pair.right.context.engine().lock.lock();
    try {
      allWait();
    } finally {
      pair.right.context.engine().unlock();
    }
    allArrive();
  }

  @Test
  void withoutPeerGroupEveryPathIsGivenUp() {
    connect(ReadyToSendAttributes.ALONE, false);
    pair.right.context.engine().lock.lock();
    try {
      for (int way = 0; way < WAYS; way++) {
        write(way);
      }
      goOnUntil(
          "ends", () -> lefts.stream().allMatch(each -> each.state() == QueuePairState.ERROR));
    } finally {
      pair.right.context.engine().unlock();
    }
  }

  @Test
  void pathsRecoverAfterOutageOfAll() {
    connect(PEER, false);
    for (int way = 0; way < WAYS; way++) {
      cut(way, true, false);
    }
    allWait();
    for (int way = 0; way < WAYS; way++) {
      cut(way, false, false);
    }
    allArrive();
  }

  /* The others have nothing under way, and are asked. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void failedPathIsDetectedWhileOthersAreIdle(boolean standard) {
    connect(PEER, standard);
    cut(2, true, false);
    assertFailedPathDetected(2);
  }

  @Test
  void pathWithoutReturnIsDetected() {
    connect(PEER, false);
    cut(1, true, true);
    assertFailedPathDetected(1);
  }

  private void assertFailedPathDetected(int lost) {
    long startNs = System.nanoTime();
    write(lost);
    WorkCompletion wc = pair.await(pair.left);
    assertEquals(Status.RETRY_EXCEEDED, wc.status);
    assertEquals(lost, wc.workRequestId);
    System.out.printf(
        "SlowPeerTest: found after %s ms, %s timeouts%n",
        (System.nanoTime() - startNs) / 1_000_000, timeouts());
    for (int way = 0; way < WAYS; way++) {
      assertEquals(
          way == lost ? QueuePairState.ERROR : QueuePairState.READY_TO_SEND,
          lefts.get(way).state());
      if (way != lost) {
        write(way);
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      }
    }
  }

  /* The silence of all until a way answers; then the one that doesn't is judged. */
  @Test
  void onlyFailedPathOfResumedPeerIsGivenUp() {
    connect(PEER, false);
    pair.right.context.engine().lock.lock();
    try {
      allWait();
      pair.right.faults().cut(3, true);
    } finally {
      pair.right.context.engine().unlock();
    }
    for (int i = 0; i < WAYS; i++) {
      WorkCompletion wc = pair.await(pair.left);
      boolean lost = wc.workRequestId == 3;
      assertEquals(lost ? Status.RETRY_EXCEEDED : Status.SUCCESS, wc.status);
    }
  }

  /* It says much, but whatever is said to it waits in its sockets for three times as long as a way may be silent. */
  @Test
  void slowPeerIsNoPathFailure() {
    connect(PEER, false);
    pair.right.context.engine().lock.lock();
    for (int way = 0; way < WAYS; way++) {
      pair.right.faults().delay(way, LATE_NS);
    }
    pair.right.context.engine().unlock();
    for (int way = 0; way < WAYS; way++) {
      write(way);
    }
    QueuePair talking = rights.getFirst();
    SendWorkRequest word = pair.right.request(Operation.RDMA_WRITE, 1, 0, 8, pair.left);
    talking.postSend(word);
    int[] done = new int[1];
    goOnUntil(
        "answers",
        () -> {
          if (pair.right.cq.poll(pair.right.one) == 1) {
            talking.postSend(word);
          }
          if (pair.left.cq.poll(pair.left.one) == 1) {
            assertEquals(Status.SUCCESS, pair.left.one[0].status);
            done[0]++;
          }
          return done[0] == WAYS;
        });
  }

  /* It is heard by the ways that its own packets take, and gets nothing by any. */
  @Test
  void unreachedPeerIsGivenUpEventually() {
    connect(PEER, false);
    for (int way = 0; way < WAYS; way++) {
      cut(way, true, false);
    }
    long startNs = System.nanoTime();
    for (int way = 0; way < WAYS; way++) {
      write(way);
      rights.get(way).postSend(pair.right.request(Operation.RDMA_WRITE, way, 0, BYTES, pair.left));
    }
    goOnUntil("ends", () -> lefts.stream().allMatch(each -> each.state() == QueuePairState.ERROR));
    long tookMs = (System.nanoTime() - startNs) / 1_000_000;
    assertTrue(tookMs >= 4 * 134, "given up after " + tookMs + " ms");
  }

  /* What comes by the way itself shows the peer as well. */
  @Test
  void onlyPathThatDropsLargePacketsIsGivenUp() {
    QueuePair left = pair.left.createQueuePair();
    QueuePair right = pair.right.createQueuePair();
    pair.connectOver(0, left, right, false, TIMEOUT_CODE, PEER);
    lefts.add(left);
    pair.right.context.engine().lock.lock();
    pair.right.faults().narrow(0, 500);
    pair.right.context.engine().unlock();
    write(0);
    right.postSend(pair.right.request(Operation.RDMA_WRITE, 1, 0, 8, pair.left));
    goOnUntil(
        "end",
        () -> {
          if (pair.right.cq.poll(pair.right.one) == 1) {
            right.postSend(pair.right.request(Operation.RDMA_WRITE, 1, 0, 8, pair.left));
          }
          return left.state() == QueuePairState.ERROR;
        });
  }
}
