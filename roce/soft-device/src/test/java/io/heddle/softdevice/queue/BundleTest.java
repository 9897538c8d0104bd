package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.DropCounters;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests bundles: small packets of several queue pairs in one datagram. */
class BundleTest {
  private static final int BYTES = 1 << 16;
  private static final int APART = 1024;

  private static long bundled(SoftPair.Side side) {
    return side.context.engine().counters.packetsBundled();
  }

  private static List<QueuePair> connected(SoftPair pair, int count) {
    List<QueuePair> lefts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      assertEquals(0, b.postEmptyReceives(i, 200));
      lefts.add(a);
    }
    return lefts;
  }

  /* Fills a side's memory. Message i begins at kilobyte i on both sides. */
  private static void fill(SoftPair.Side side) {
    for (int i = 0; i < BYTES; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, side.mr.address() + i, (byte) (i * 31 + i / APART));
    }
  }

  private static void post(SoftPair pair, QueuePair qp, Operation operation, int i, int bytes) {
    assertEquals(1, qp.postSend(pair.left.request(operation, i, i * APART, bytes, pair.right)));
  }

  private static boolean hasArrived(SoftPair pair, int i, int bytes) {
    long from = pair.left.mr.address() + i * APART;
    long to = pair.right.mr.address() + i * APART;
    return java.lang.foreign.MemorySegment.mismatch(
            Memory.ALL, from, from + bytes, Memory.ALL, to, to + bytes)
        == -1;
  }

  private static void awaitSends(SoftPair pair, int count) {
    for (int i = 0; i < count; i++) {
      WorkCompletion wc = pair.await(pair.left);
      assertEquals(Status.SUCCESS, wc.status);
    }
  }

  /*
   * The first write causes no completion at the peer, so the device holds it until the second. On a
   * busy machine the device's own thread may send the first write between the two posts, so the
   * test retries.
   */
  @ParameterizedTest
  @ValueSource(ints = {8, 700})
  void writeWithoutImmediateIsBundledWithNextMessage(int bytes) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> two = connected(pair, 2);
      fill(pair.left);
      int tries = 0;
      long before = -1;
      Deadline deadline = Deadline.ofSeconds(20);
      while (bundled(pair.left) - before != 2) {
        assertFalse(deadline.isOver(), "never together in " + tries + " tries");
        before = bundled(pair.left);
        pair.left.context.progress();
        post(pair, two.get(0), Operation.RDMA_WRITE, 2 * tries % 60, 64);
        post(pair, two.get(1), Operation.RDMA_WRITE_WITH_IMMEDIATE, 2 * tries % 60 + 1, bytes);
        WorkCompletion wc = pair.await(pair.right);
        assertEquals(Kind.RECEIVE_RDMA_WITH_IMMEDIATE, wc.kind);
        assertEquals(bytes, wc.lengthBytes);
        awaitSends(pair, 2);
        assertTrue(hasArrived(pair, 2 * tries % 60, 64));
        assertTrue(hasArrived(pair, 2 * tries % 60 + 1, bytes));
        tries++;
      }
    }
  }

  /*
   * The device holds writes that cause no completion at the peer, if the caller polled shortly
   * before it posted them. A busy machine may preempt the caller in between, so the test retries.
   */
  @Test
  void silentWritesAreBundledUntilNextPoll() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> three = connected(pair, 3);
      long before = bundled(pair.left);
      Deadline deadline = Deadline.ofSeconds(20);
      for (int tries = 0; bundled(pair.left) - before < 3; tries++) {
        assertFalse(deadline.isOver(), "never together in " + tries + " tries");
        fill(pair.left);
        Memory.clear(pair.right.mr.address(), BYTES);
        before = bundled(pair.left);
        pair.left.context.progress();
        for (int i = 0; i < 30; i++) {
          post(pair, three.get(i % 3), Operation.RDMA_WRITE, i, 100);
        }
        awaitSends(pair, 30);
        for (int i = 0; i < 30; i++) {
          assertTrue(hasArrived(pair, i, 100), "message " + i);
        }
      }
    }
  }

  @Test
  void deviceSendsBundleWithoutPollingCaller() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> two = connected(pair, 2);
      fill(pair.left);
      post(pair, two.get(0), Operation.RDMA_WRITE, 3, 100);
      Deadline deadline = Deadline.ofSeconds(20);
      while (!hasArrived(pair, 3, 100)) {
        assertFalse(deadline.isOver(), "it hasn't left");
        pair.right.context.progress();
      }
      awaitSends(pair, 1);
    }
  }

  @Test
  void closedQueuePairDropsNoPacketsOfOthers() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> two = connected(pair, 2);
      fill(pair.left);
      for (int i = 0; i < 20; i++) {
        QueuePair carrier = connected(pair, 1).getFirst();
        post(pair, carrier, Operation.RDMA_WRITE, 2 * i, 64);
        post(pair, two.get(0), Operation.RDMA_WRITE, 2 * i + 1, 64);
        carrier.close();
        while (pair.await(pair.left).workRequestId != 2 * i + 1) {
          /* skips completions of the closed queue pair's writes, which arrived before the close */
        }
        assertTrue(hasArrived(pair, 2 * i + 1, 64));
      }
    }
  }

  @Test
  void planesAreBundledSeparately() {
    try (SoftPair pair = new SoftPair("", 2, BYTES)) {
      List<QueuePair> lefts = new ArrayList<>();
      for (int plane = 0; plane < 2; plane++) {
        QueuePair a = pair.left.createQueuePair();
        QueuePair b = pair.right.createQueuePair();
        pair.connectOver(plane, a, b, PathMtu.MTU_1024);
        assertEquals(0, b.postEmptyReceives(plane, 200));
        lefts.add(a);
      }
      fill(pair.left);
      for (int i = 0; i < 20; i++) {
        post(pair, lefts.get(0), Operation.RDMA_WRITE, i, 64);
        post(pair, lefts.get(1), Operation.RDMA_WRITE_WITH_IMMEDIATE, i + 20, 8);
        assertEquals(8, pair.await(pair.right).lengthBytes);
        awaitSends(pair, 2);
        assertTrue(hasArrived(pair, i, 64) && hasArrived(pair, i + 20, 8));
      }
      assertEquals(0, bundledAcrossPlanes(pair));
    }
  }

  /*
   * Returns the number of packets that came from another plane than their queue pair's, and so from
   * a source that isn't their peer's.
   */
  private static long bundledAcrossPlanes(SoftPair pair) {
    return pair.right.context.engine().counters.drops().get(DropCounters.Reason.WRONG_SOURCE)
        + pair.left.context.engine().counters.drops().get(DropCounters.Reason.WRONG_SOURCE);
  }

  /*
   * A queue pair's bundled packets may leave through another queue pair's socket, and so could be
   * reordered against its large trains.
   */
  @Test
  void queuePairWithLargeTrainsIsNotBundled() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> two = connected(pair, 2);
      fill(pair.left);
      Engine silent = pair.right.context.engine();
      silent.lock.lock();
      try {
        post(pair, two.get(0), Operation.RDMA_WRITE, 0, BYTES);
        for (int i = 0; i < 20; i++) {
          post(pair, two.get(1), Operation.RDMA_WRITE, 2 * i, 64);
          post(pair, two.get(0), Operation.RDMA_WRITE_WITH_IMMEDIATE, 2 * i + 1, 64);
        }
        assertEquals(0, bundled(pair.left));
      } finally {
        silent.unlock();
      }
      awaitSends(pair, 41);
    }
  }

  /* Faults affect a bundle as a whole, and each queue pair repairs its own packets. */
  @Test
  void everyQueuePairRetransmitsFromLostBundle() {
    String faults = "loss=0.05,duplicate=0.05,corrupt=0.05,reorder=0.05,seed=7";
    try (SoftPair pair = new SoftPair(faults, BYTES)) {
      List<QueuePair> three = connected(pair, 3);
      fill(pair.left);
      for (int round = 0; round < 20; round++) {
        Memory.clear(pair.right.mr.address(), BYTES);
        for (int i = 0; i < 30; i++) {
          post(pair, three.get(i % 3), Operation.RDMA_WRITE, i, 100);
        }
        awaitSends(pair, 30);
        for (int i = 0; i < 30; i++) {
          assertTrue(hasArrived(pair, i, 100), "message " + i + " of round " + round);
        }
      }
      assertTrue(pair.left.context.engine().counters.packetsResent() > 0, "nothing was lost");
    }
  }

  @Test
  void standardPeerGetsNoBundles() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      List<QueuePair> lefts = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        QueuePair a = pair.left.createQueuePair();
        QueuePair b = pair.right.createQueuePair();
        pair.connect(a, b, PathMtu.MTU_1024, true, 16);
        assertEquals(0, b.postEmptyReceives(i, 200));
        lefts.add(a);
      }
      fill(pair.left);
      for (int i = 0; i < 20; i++) {
        post(pair, lefts.get(i % 2), Operation.RDMA_WRITE, i, 64);
      }
      awaitSends(pair, 20);
      assertEquals(0, bundled(pair.left));
      assertFalse(bundled(pair.right) > 0);
    }
  }
}
