package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the soft device beyond the provider contract. */
class SoftDeviceTest {
  private static void fill(long address, int bytes) {
    for (int i = 0; i < bytes; i += 8) {
      Memory.ALL.set(Memory.NATIVE_LONG, address + i, (i + 1) * 0x9e3779b97f4a7c15L);
    }
  }

  private static void assertSame(SoftPair pair, long bytes) {
    long from = pair.left.mr.address();
    long to = pair.right.mr.address();
    assertEquals(
        -1, MemorySegment.mismatch(Memory.ALL, from, from + bytes, Memory.ALL, to, to + bytes));
  }

  @ParameterizedTest
  @CsvSource({"false", "true"})
  void sixteenMebibytesInOneWrite(boolean standardPeers) {
    int bytes = 16 << 20;
    try (SoftPair pair = new SoftPair("", bytes)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, standardPeers, 16);
      fill(pair.left.mr.address(), bytes);
      b.postEmptyReceives(4, 1);
      assertEquals(
          1,
          a.postSend(
              pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, bytes, pair.right)));
      assertEquals(bytes, pair.await(pair.right).lengthBytes);
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      assertSame(pair, bytes);
    }
  }

  @Test
  void standardPeerOverIpv4IsRefusedWithRemedy() {
    try (SoftPair pair = new SoftPair("", 4096)) {
      QueuePair a = pair.left.createQueuePair();
      a.initialise(pair.left.gidIndexes());
      Gid elsewhere = Gid.of(InetAddress.ofLiteral("192.0.2.7"));
      VerbsException refused =
          assertThrows(
              VerbsException.class,
              () ->
                  a.readyToReceive(
                      new ReadyToReceiveAttributes(
                          PathMtu.MTU_1024, elsewhere, 17, 0, new byte[0], 1, 0, 0)));
      assertEquals(Errno.EOPNOTSUPP, refused.errno());
      String told = String.valueOf(refused.getMessage());
      assertTrue(told.contains("192.0.2.7 isn't a soft device"), told);
      assertTrue(told.contains("use IPv6 planes, or soft devices at both ends"), told);
      assertEquals(QueuePairState.INIT, a.state());
    }
  }

  @ParameterizedTest
  @EnumSource(PathMtu.class)
  void preferredWriteIsOneTrainOfWholePackets(PathMtu mtu) {
    try (SoftPair pair = new SoftPair("", 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, mtu, false, 16);
      int bytes = pair.left.context.preferredWriteBytes(mtu);
      assertEquals(0, bytes % mtu.bytes());
      b.postEmptyReceives(1, 2);
      Counters counters = pair.left.context.engine().counters;
      /*
       * With the first message, the device probes whether the path carries more than the path MTU.
       */
      long before = 0;
      for (int i = 0; i < 2; i++) {
        before = counters.packetsSent() - counters.packetsResent();
        a.postSend(pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, bytes, pair.right));
        assertEquals(bytes, pair.await(pair.right).lengthBytes);
        pair.await(pair.left);
      }
      int packet = mtu == PathMtu.MTU_4096 ? PacketSizes.MOST_BYTES : mtu.bytes();
      /*
       * Retransmissions are excluded, since on a busy machine the device may have probed its peer
       * with some.
       */
      assertEquals(
          bytes / packet + 1,
          counters.packetsSent() - counters.packetsResent() - before,
          "packets");
    }
  }

  @Test
  void writeCompletesWithoutPollingReceiver() throws InterruptedException {
    try (SoftPair pair = new SoftPair("", 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, false, 16);
      b.postEmptyReceives(1, 1);
      fill(pair.left.mr.address(), 1 << 20);
      a.postSend(pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, 1 << 20, pair.right));
      /* The test never calls progress, so the progress threads of both sides have to. */
      Deadline deadline = Deadline.ofSeconds(10);
      int left = 0;
      int right = 0;
      while ((left == 0 || right == 0) && !deadline.isOver()) {
        left += pair.left.cq.poll(pair.left.one);
        right += pair.right.cq.poll(pair.right.one);
        Thread.sleep(1);
      }
      assertEquals(2, left + right);
      assertSame(pair, 1 << 20);
    }
  }

  @Test
  void sixtyFourQueuePairsAndTwoThreadsShareADevice() throws InterruptedException {
    int perPair = 20;
    int bytes = 10_000;
    try (SoftPair pair = new SoftPair("", 2 << 20)) {
      List<QueuePair> senders = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        QueuePair a = pair.left.createQueuePair();
        QueuePair b = pair.right.createQueuePair();
        pair.connect(a, b, PathMtu.MTU_1024, false, 16);
        assertEquals(0, b.postEmptyReceives(i, perPair));
        senders.add(a);
      }
      fill(pair.left.mr.address(), 2 << 20);
      AtomicInteger failures = new AtomicInteger();
      Thread[] posters = new Thread[2];
      for (int t = 0; t < 2; t++) {
        int first = t * 32;
        posters[t] =
            new Thread(() -> {
              for (int round = 0; round < perPair; round++) {
                for (int i = first; i < first + 32; i++) {
                  SendWorkRequest wr =
                      pair.left.request(
                          Operation.RDMA_WRITE_WITH_IMMEDIATE, i, i * 16_384L, bytes, pair.right);
                  wr.immediate = i << 16 | round;
                  if (senders.get(i).postSend(wr) != 1) {
                    failures.incrementAndGet();
                  }
                }
                pair.left.context.progress();
              }
            });
        posters[t].start();
      }
      int[] rounds = new int[64];
      for (int n = 0; n < 64 * perPair; n++) {
        WorkCompletion wc = pair.await(pair.right);
        assertEquals(Status.SUCCESS, wc.status);
        int which = wc.immediate >>> 16;
        assertEquals(which, wc.workRequestId);
        assertEquals(rounds[which]++, wc.immediate & 0xffff, "order within a queue pair");
      }
      for (int n = 0; n < 64 * perPair; n++) {
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      }
      for (Thread poster : posters) {
        poster.join();
      }
      assertEquals(0, failures.get());
      for (int i = 0; i < 64; i++) {
        long at = i * 16_384L;
        assertEquals(
            -1,
            MemorySegment.mismatch(
                Memory.ALL,
                pair.left.mr.address() + at,
                pair.left.mr.address() + at + bytes,
                Memory.ALL,
                pair.right.mr.address() + at,
                pair.right.mr.address() + at + bytes));
      }
    }
  }

  @Test
  void queuePairOfClosedDeviceHandlesEveryCall() {
    SoftPair pair = new SoftPair("", 4096);
    QueuePair a = pair.left.createQueuePair();
    pair.connect(a, pair.right.createQueuePair(), PathMtu.MTU_4096, false, 16);
    pair.close();
    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          a.setLinkWeights(new int[] {1});
          a.linkLost(0);
          assertEquals(List.of(), a.linkCounts());
          a.toError();
          a.reset();
          a.close();
          assertEquals(QueuePairState.RESET, a.state());
        });
  }

  @Test
  void closingWithWorkInFlightLeavesNothingBehind() {
    for (int i = 0; i < 5; i++) {
      SoftPair pair = new SoftPair("loss=0.3", 1 << 20);
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      b.postEmptyReceives(1, 10);
      for (int n = 0; n < 10; n++) {
        a.postSend(
            pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, n, 0, 1 << 20, pair.right));
      }
      pair.progress();
      pair.close(); /* checks the leak ledger */
      assertEquals(-Errno.EINVAL, a.postSend(new SendWorkRequest()));
      assertEquals(0, pair.left.context.progress());
    }
  }

  /**
   * Waits for an event. The device first changes the state, answers the peer and writes
   * completions, and then queues the event. So a test that has seen one of these effects may still
   * have to wait for the event.
   */
  private static Set<AsyncEventListener.Kind> awaitEvent(
      DeviceContext context, AsyncEventListener.Kind wanted) {
    Set<AsyncEventListener.Kind> kinds = EnumSet.noneOf(AsyncEventListener.Kind.class);
    Deadline deadline = Deadline.ofSeconds(10);
    while (!kinds.contains(wanted) && !deadline.isOver()) {
      context.pollAsyncEvents((kind, number) -> kinds.add(kind));
    }
    assertTrue(kinds.contains(wanted), () -> wanted + " wasn't told, but " + kinds);
    return kinds;
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA_WRITE_WITH_IMMEDIATE", "SEND"})
  void completionQueueOverrunEndsQueuePairsWithEvent(Operation operation) {
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      SoftCompletionQueue small = (SoftCompletionQueue) pair.right.context.createCompletionQueue(4);
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.pd.createQueuePair(new QueuePairAttributes(small, small, 16, 64));
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      for (int n = 0; n < 20; n++) {
        b.postReceive(n, pair.right.mr.address(), 8, pair.right.mr.lkey());
        a.postSend(pair.left.request(operation, n, 0, 8, pair.right));
      }
      Deadline deadline = Deadline.ofSeconds(10);
      while (b.state() != QueuePairState.ERROR && !deadline.isOver()) {
        pair.progress();
      }
      assertEquals(QueuePairState.ERROR, b.state());
      assertEquals(0, b.postReceive(99, pair.right.mr.address(), 8, pair.right.mr.lkey()));
      pair.progress(); /* flushes the receive that was posted after the error */
      awaitEvent(pair.right.context, AsyncEventListener.Kind.COMPLETION_QUEUE_ERROR);
      WorkCompletion[] batch = WorkCompletion.batch(4);
      assertEquals(4, small.poll(batch));
      assertEquals(-Errno.ENOSPC, small.poll(batch));
    }
  }

  @Test
  void accessErrorIsReportedAtBothEnds() {
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      SendWorkRequest wr = pair.left.request(Operation.RDMA_WRITE, 1, 0, 5000, pair.right);
      wr.remoteAddress += (1 << 16) - 4999;
      a.postSend(wr);
      assertEquals(Status.REMOTE_ACCESS_ERROR, pair.await(pair.left).status);
      assertEquals(
          Set.of(AsyncEventListener.Kind.QUEUE_PAIR_ACCESS_ERROR),
          awaitEvent(pair.right.context, AsyncEventListener.Kind.QUEUE_PAIR_ACCESS_ERROR));
      for (int i = 0; i < 1 << 16; i++) {
        assertEquals(
            0,
            Memory.ALL.get(ValueLayout.JAVA_BYTE, pair.right.mr.address() + i),
            "nothing was written");
      }
    }
  }

  @Test
  void systemCallsAreTriedAtOpen() {
    try (SoftPair pair = new SoftPair("", 4096)) {
      pair.left.context.engine().trySystemCalls();
      assertEquals(List.of(), pair.lines);
    }
  }
}
