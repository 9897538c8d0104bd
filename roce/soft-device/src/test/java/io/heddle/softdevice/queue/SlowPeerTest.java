package io.heddle.softdevice.queue;

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
 * Tests whether queue pairs over several paths distinguish a suspended peer from a failed path. The
 * test simulates a suspended peer by holding the peer's device lock, so that packets wait in its
 * sockets.
 */
class SlowPeerTest {
  private static final int PATHS = 4;
  private static final int BYTES = 3000;
  private static final long PEER = 7;

  /* Timeout with which a queue pair fails after 134 ms of silence, with seven retries. */
  private static final int TIMEOUT_CODE = 12;
  private static final long LATE_NS = 400_000_000;

  /* Several times as many timeouts as a queue pair without peer group tolerates. */
  private static final long MANY_TIMEOUTS = 40L * PATHS;

  private final SoftPair pair = new SoftPair(null, PATHS, 1 << 16);
  private final List<QueuePair> lefts = new ArrayList<>();
  private final List<QueuePair> rights = new ArrayList<>();

  @AfterEach
  void close() {
    pair.close();
  }

  private void connect(long peer, boolean standard) {
    for (int path = 0; path < PATHS; path++) {
      QueuePair left = pair.left.createQueuePair();
      QueuePair right = pair.right.createQueuePair();
      pair.connectOver(path, left, right, standard, TIMEOUT_CODE, peer);
      lefts.add(left);
      rights.add(right);
    }
  }

  private void write(int path) {
    int taken =
        lefts
            .get(path)
            .postSend(
                pair.left.request(
                    Operation.RDMA_WRITE, path, (long) path * BYTES, BYTES, pair.right));
    assertEquals(1, taken);
  }

  private void cut(int path, boolean on, boolean towardsLeft) {
    SoftPair.Side deaf = towardsLeft ? pair.left : pair.right;
    deaf.context.engine().lock.lock();
    deaf.faults().cut(path, on);
    deaf.context.engine().unlock();
  }

  private long timeouts() {
    return pair.left.context.engine().counters.timeouts();
  }

  /*
   * Polls the left side. The right side's progress thread serves that side whenever the side's lock
   * is free.
   */
  private void driveUntil(String what, BooleanSupplier reached) {
    long endNs = System.nanoTime() + 60_000_000_000L;
    while (!reached.getAsBoolean()) {
      pair.left.context.progress();
      if (System.nanoTime() - endNs > 0) {
        fail("no " + what + " after " + timeouts() + " timeouts");
      }
    }
  }

  private void assertAllArrive() {
    for (int i = 0; i < PATHS; i++) {
      WorkCompletion wc = pair.await(pair.left);
      assertEquals(Status.SUCCESS, wc.status, "of path " + wc.workRequestId);
    }
    for (QueuePair each : lefts) {
      assertEquals(QueuePairState.READY_TO_SEND, each.state());
      assertEquals(0, each.peerSilentNs());
    }
  }

  private void assertAllWait() {
    for (int path = 0; path < PATHS; path++) {
      write(path);
    }
    long before = timeouts();
    driveUntil("timeouts", () -> timeouts() - before >= MANY_TIMEOUTS);
    for (QueuePair each : lefts) {
      assertEquals(QueuePairState.READY_TO_SEND, each.state(), each.toString());
      assertTrue(each.peerSilentNs() > 134_000_000, each + " for " + each.peerSilentNs());
    }
    assertEquals(PATHS, pair.left.context.engine().counters.peerWaits());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void suspendedPeerIsProbedWithoutLimit(boolean standard) {
    connect(PEER, standard);
    pair.right.context.engine().lock.lock();
    try {
      assertAllWait();
    } finally {
      pair.right.context.engine().unlock();
    }
    assertAllArrive();
  }

  @Test
  void withoutPeerGroupEveryPathIsGivenUp() {
    connect(ReadyToSendAttributes.NO_PEER_GROUP, false);
    pair.right.context.engine().lock.lock();
    try {
      for (int path = 0; path < PATHS; path++) {
        write(path);
      }
      driveUntil(
          "ends", () -> lefts.stream().allMatch(each -> each.state() == QueuePairState.ERROR));
    } finally {
      pair.right.context.engine().unlock();
    }
  }

  @Test
  void pathsRecoverAfterOutageOfAll() {
    connect(PEER, false);
    for (int path = 0; path < PATHS; path++) {
      cut(path, true, false);
    }
    assertAllWait();
    for (int path = 0; path < PATHS; path++) {
      cut(path, false, false);
    }
    assertAllArrive();
  }

  /* The other paths are idle, so the device has to probe them to find that the peer is alive. */
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
    for (int path = 0; path < PATHS; path++) {
      assertEquals(
          path == lost ? QueuePairState.ERROR : QueuePairState.READY_TO_SEND,
          lefts.get(path).state());
      if (path != lost) {
        write(path);
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      }
    }
  }

  /*
   * The suspended peer is silent on all paths. When it resumes, the device gives up only the path
   * that remains silent.
   */
  @Test
  void onlyFailedPathOfResumedPeerIsGivenUp() {
    connect(PEER, false);
    pair.right.context.engine().lock.lock();
    try {
      assertAllWait();
      pair.right.faults().cut(3, true);
    } finally {
      pair.right.context.engine().unlock();
    }
    for (int i = 0; i < PATHS; i++) {
      WorkCompletion wc = pair.await(pair.left);
      boolean lost = wc.workRequestId == 3;
      assertEquals(lost ? Status.RETRY_EXCEEDED : Status.SUCCESS, wc.status);
    }
  }

  /*
   * The peer sends all the time, but packets to it are delayed by three times the allowed silence.
   */
  @Test
  void slowPeerIsNoPathFailure() {
    connect(PEER, false);
    pair.right.context.engine().lock.lock();
    for (int path = 0; path < PATHS; path++) {
      pair.right.faults().delay(path, LATE_NS);
    }
    pair.right.context.engine().unlock();
    for (int path = 0; path < PATHS; path++) {
      write(path);
    }
    QueuePair talking = rights.getFirst();
    SendWorkRequest word = pair.right.request(Operation.RDMA_WRITE, 1, 0, 8, pair.left);
    talking.postSend(word);
    int[] done = new int[1];
    driveUntil(
        "answers",
        () -> {
          if (pair.right.cq.poll(pair.right.one) == 1) {
            talking.postSend(word);
          }
          if (pair.left.cq.poll(pair.left.one) == 1) {
            assertEquals(Status.SUCCESS, pair.left.one[0].status);
            done[0]++;
          }
          return done[0] == PATHS;
        });
  }

  /* The peer's own packets arrive, but nothing reaches the peer on any path. */
  @Test
  void unreachedPeerIsGivenUpEventually() {
    connect(PEER, false);
    for (int path = 0; path < PATHS; path++) {
      cut(path, true, false);
    }
    long startNs = System.nanoTime();
    for (int path = 0; path < PATHS; path++) {
      write(path);
      rights
          .get(path)
          .postSend(pair.right.request(Operation.RDMA_WRITE, path, 0, BYTES, pair.left));
    }
    driveUntil("ends", () -> lefts.stream().allMatch(each -> each.state() == QueuePairState.ERROR));
    long tookMs = (System.nanoTime() - startNs) / 1_000_000;
    assertTrue(tookMs >= 4 * 134, "given up after " + tookMs + " ms");
  }

  /* The peer's packets prove that it is alive, but the large packets to it are dropped. */
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
    driveUntil(
        "end",
        () -> {
          if (pair.right.cq.poll(pair.right.one) == 1) {
            right.postSend(pair.right.request(Operation.RDMA_WRITE, 1, 0, 8, pair.left));
          }
          return left.state() == QueuePairState.ERROR;
        });
  }
}
