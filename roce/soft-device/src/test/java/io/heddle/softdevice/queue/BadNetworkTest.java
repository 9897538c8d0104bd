package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.Counters;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that all data arrives correctly over a network that drops, duplicates, reorders and
 * corrupts packets.
 */
class BadNetworkTest {
  private static final int BUFFER = 8 << 20;
  private static final int MESSAGES = 150;

  /* An operation of the sender. The receiver checks the operations in the order of posting. */
  private record Sent(Operation operation, int offset, int bytes, int immediate) {}

  @ParameterizedTest
  @CsvSource({
    "'loss=0.01', false, 1, MTU_1024",
    "'duplicate=0.02', false, 1, MTU_1024",
    "'reorder=0.02', false, 1, MTU_1024",
    "'corrupt=0.01', false, 1, MTU_1024",
    "'loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01', false, 1, MTU_1024",
    "'loss=0.1', false, 1, MTU_1024",
    "'delay-us=300', false, 1, MTU_1024",
    "'delay-us=300,loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01', false, 1, MTU_1024",
    "'delay-us=300,loss=0.01,reorder=0.01', true, 1, MTU_1024",
    "'loss=0.01', true, 1, MTU_1024",
    "'loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01', true, 1, MTU_1024",
    "'', false, 4, MTU_1024",
    "'loss=0.01', false, 4, MTU_1024",
    "'loss=0.1', false, 3, MTU_1024",
    "'loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01', false, 4, MTU_1024",
    "'delay-us=300,loss=0.01,duplicate=0.01,reorder=0.01,corrupt=0.01', false, 8, MTU_1024",
    /* On the loopback, two soft devices use packets of 8960 bytes. */
    "'loss=0.05,duplicate=0.01,reorder=0.02,corrupt=0.01', false, 1, MTU_4096",
    "'delay-us=300,loss=0.02,reorder=0.02,corrupt=0.01', false, 1, MTU_4096",
    "'delay-us=300,loss=0.02,duplicate=0.01,reorder=0.01,corrupt=0.01', false, 4, MTU_4096",
    "'ghost=0.02,ghost-ms=20,loss=0.01', false, 1, MTU_4096",
  })
  void everyMessageArrivesOnceAndInOrder(
      String faults, boolean standardPeers, int links, PathMtu mtu) {
    long seed = Long.getLong("heddle.seed", System.nanoTime() & 0xffff_ffffL);
    System.out.println(
        "BadNetworkTest %s standard %s links %s -Dheddle.seed=%s"
            .formatted(faults, standardPeers, links, seed));
    Random random = new Random(seed);
    String seeded = faults.isEmpty() ? "" : faults + ",seed=" + (seed & 0xffffff);
    try (SoftPair pair = new SoftPair(seeded, links, BUFFER)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, mtu, standardPeers, 16);
      fill(pair.left.mr.address(), random);
      run(pair, a, b, random);
      assertTrue(pair.left.context.engine().counters.packetsSent() > MESSAGES);
    }
  }

  private static void run(SoftPair pair, QueuePair a, QueuePair b, Random random) {
    ArrayDeque<Sent> underWay = new ArrayDeque<>();
    int posted = 0;
    int completed = 0;
    int received = 0;
    int offset = 0;
    assertEquals(0, b.postEmptyReceives(0, 100));
    Deadline deadline = Deadline.ofSeconds(60);
    while (completed < MESSAGES || received < MESSAGES) {
      assertFalse(
          deadline.isOver(),
          "stuck at " + posted + " posted, " + completed + " completed, " + received + " received");
      if (posted < MESSAGES && posted - received < 40) {
        int bytes = random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(3000);
        if (offset + bytes > BUFFER) {
          offset = 0;
          if (posted > received) {
            /* The receiver still compares this memory, so this round posts nothing. */
            bytes = -1;
          }
        }
        if (bytes >= 0) {
          SendWorkRequest wr =
              pair.left.request(
                  Operation.RDMA_WRITE_WITH_IMMEDIATE, posted, offset, bytes, pair.right);
          wr.immediate = random.nextInt();
          underWay.add(new Sent(wr.operation, offset, bytes, wr.immediate));
          assertEquals(1, a.postSend(wr));
          offset += bytes;
          posted++;
        }
      }
      pair.progress();
      while (pair.left.cq.poll(pair.left.one) == 1) {
        assertEquals(Status.SUCCESS, pair.left.one[0].status);
        assertEquals(completed++, pair.left.one[0].workRequestId);
      }
      while (pair.right.cq.poll(pair.right.one) == 1) {
        compare(pair, pair.right.one[0], underWay.remove());
        received++;
        assertEquals(0, b.postEmptyReceives(0, 1));
      }
    }
  }

  private static void compare(SoftPair pair, WorkCompletion wc, Sent sent) {
    assertEquals(Status.SUCCESS, wc.status);
    assertEquals(Kind.RECEIVE_RDMA_WITH_IMMEDIATE, wc.kind);
    assertEquals(sent.immediate(), wc.immediate);
    assertEquals(sent.bytes(), wc.lengthBytes);
    long mismatch =
        java.lang.foreign.MemorySegment.mismatch(
            Memory.ALL,
            pair.left.mr.address() + sent.offset(),
            pair.left.mr.address() + sent.offset() + sent.bytes(),
            Memory.ALL,
            pair.right.mr.address() + sent.offset(),
            pair.right.mr.address() + sent.offset() + sent.bytes());
    assertEquals(-1, mismatch, "byte that differs in a message of " + sent.bytes());
    /*
     * Clears the receiver's memory. If a packet of this message is placed again later, the next
     * message at this offset shows it.
     */
    Memory.clear(pair.right.mr.address() + sent.offset(), sent.bytes());
  }

  private static void fill(long address, Random random) {
    byte[] bytes = new byte[BUFFER];
    random.nextBytes(bytes);
    java.lang.foreign.MemorySegment.copy(
        bytes, 0, Memory.ALL, ValueLayout.JAVA_BYTE, address, BUFFER);
  }

  @ParameterizedTest
  @CsvSource({
    "'loss=0.02,reorder=0.02,duplicate=0.02', false",
    "'loss=0.02,reorder=0.02,duplicate=0.02', true"
  })
  void sendsAndReadsSurviveFaults(String faults, boolean standardPeers) {
    long seed = Long.getLong("heddle.seed", System.nanoTime() & 0xffff_ffffL);
    System.out.println(
        "BadNetworkTest sends and reads, standard " + standardPeers + " -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    try (SoftPair pair = new SoftPair(faults + ",seed=" + (seed & 0xffffff), BUFFER)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, standardPeers, 16);
      fill(pair.left.mr.address(), random);
      for (int i = 0; i < 30; i++) {
        int bytes = 1 + random.nextInt(60_000);
        assertEquals(0, b.postReceive(i, pair.right.mr.address(), bytes, pair.right.mr.lkey()));
        assertEquals(1, a.postSend(pair.left.request(Operation.SEND, i, 0, bytes, pair.right)));
        SendWorkRequest read =
            pair.left.request(Operation.RDMA_READ, 1000 + i, 0, bytes, pair.right);
        read.localAddress += BUFFER / 2;
        assertEquals(1, a.postSend(read));
        WorkCompletion got = pair.await(pair.right);
        assertEquals(Status.SUCCESS, got.status);
        assertEquals(bytes, got.lengthBytes);
        assertEquals(i, pair.await(pair.left).workRequestId);
        WorkCompletion fetched = pair.await(pair.left);
        assertEquals(1000 + i, fetched.workRequestId);
        assertEquals(Status.SUCCESS, fetched.status);
        long home = pair.left.mr.address();
        assertEquals(
            -1,
            java.lang.foreign.MemorySegment.mismatch(
                Memory.ALL,
                home,
                home + bytes,
                Memory.ALL,
                home + BUFFER / 2,
                home + BUFFER / 2 + bytes),
            "there and back again");
      }
    }
  }

  /*
   * No packets follow the lost train, so only answers to probes show the loss, and each answer must
   * report all lost packets. A probe for each of the sixty packets would take two seconds.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void lostLastTrainTakesFewProbes(int links) {
    try (SoftPair pair = new SoftPair("", links, 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 18);
      b.postEmptyReceives(0, 1);
      for (int link = 0; link < links; link++) {
        pair.right.faults().cut(link, true);
      }
      int bytes = 60 * 1024 - 4;
      a.postSend(pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, bytes, pair.right));
      Counters counters = pair.left.context.engine().counters;
      while (counters.timeouts() == 0) {
        pair.progress();
      }
      for (int link = 0; link < links; link++) {
        pair.right.faults().cut(link, false);
      }
      assertEquals(Status.SUCCESS, pair.await(pair.right).status);
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      assertTrue(counters.packetsSent() >= 60, "one train of sixty packets");
      assertTrue(counters.timeouts() <= 20, counters.timeouts() + " questions");
    }
  }
}
