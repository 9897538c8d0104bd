package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.IcrcWriter;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Tests acknowledgements and READ responses whose completion overruns the completion queue, which
 * ends the queue pair. Afterwards no timer may run, and nothing may be written.
 */
class HostileResponsesTest {
  private static final int MTU = 1024;
  private static final int BUFFER = 1 << 16;
  private static final byte UNTOUCHED = 0x5a;

  /*
   * A requester whose completion queue has room for two completions, and a peer whose answers this
   * test forges.
   */
  private static final class Victim implements AutoCloseable {
    final SoftPair pair = new SoftPair("", BUFFER);
    final Arena arena = Arena.ofConfined();
    final long packet = Memory.allocate(arena, 5000, 8);
    final SoftCompletionQueue small =
        (SoftCompletionQueue) pair.left.context.createCompletionQueue(2);
    final Gid peer = pair.right.context.gidTable().entries().getFirst().gid();
    final FlowChecksum flow = new FlowChecksum();
    final SoftQueuePair qp;
    final int peerPort;

    Victim() {
      qp =
          (SoftQueuePair)
              pair.left.pd.createQueuePair(new QueuePairAttributes(small, small, 128, 64));
      QueuePair other = pair.right.createQueuePair();
      pair.connect(qp, other, PathMtu.MTU_1024, false, 16);
      peerPort =
          EndpointParameters.parse(other.endpointParameters(), "the peer")
              .ends()
              .getFirst()
              .sourcePort();
      flow.reset(peer, peerPort, pair.left.context.gidTable().entries().getFirst().gid(), 4791);
      other.reset(); /* after a reset, the other end never answers by itself */
      Memory.ALL.asSlice(pair.left.mr.address(), BUFFER).fill(UNTOUCHED);
    }

    void post(Operation operation, int count, int bytes) {
      for (int i = 0; i < count; i++) {
        SendWorkRequest wr = pair.left.request(operation, 100 + i, 0, bytes, pair.right);
        assertEquals(1, qp.postSend(wr));
      }
    }

    void acknowledge(int psn, int syndrome, long... bitmap) {
      PacketFormat.writeBase(packet, PacketFormat.ACKNOWLEDGE, 0, qp.number(), psn);
      PacketFormat.writeAeth(packet + PacketFormat.BTH_BYTES, syndrome, 1);
      int bytes = PacketFormat.BTH_BYTES + PacketFormat.AETH_BYTES;
      Memory.ALL.set(Memory.NETWORK_INT, packet + bytes, 0);
      bytes += PacketFormat.WAITED_BYTES;
      for (long word : bitmap) {
        Memory.ALL.set(Memory.NETWORK_LONG, packet + bytes, word);
        bytes += 8;
      }
      deliver(bytes);
    }

    void respond(int opcode, int psn, int payloadBytes) {
      PacketFormat.writeBase(packet, opcode, 0, qp.number(), psn);
      int header = PacketFormat.BTH_BYTES;
      if (opcode != PacketFormat.READ_RESPONSE_MIDDLE) {
        PacketFormat.writeAeth(packet + header, PacketFormat.SYNDROME_ACK, 1);
        header += PacketFormat.AETH_BYTES;
      }
      Memory.ALL.asSlice(packet + header, payloadBytes).fill((byte) 0x11);
      deliver(header + payloadBytes);
    }

    /* Passes the packet directly to the engine, with the peer's checksum. */
    private void deliver(int covered) {
      new IcrcWriter(packet, 5000, flow).write(packet, covered);
      Engine engine = pair.left.context.engine();
      engine.lock.lock();
      try {
        engine.dispatcher.dispatch(
            Memory.ALL.asSlice(packet, 5000).asByteBuffer(),
            packet,
            packet,
            covered + PacketFormat.ICRC_BYTES,
            peer.high(),
            peer.low(),
            peerPort,
            engine.nowNs());
      } finally {
        engine.unlock();
      }
      DropCounters drops = engine.counters.drops();
      assertEquals(0, drops.get(DropCounters.Reason.BAD_CHECKSUM));
      assertEquals(0, drops.get(DropCounters.Reason.WRONG_SOURCE));
    }

    /*
     * Returns the time of the queue pair's next timer. Takes the lock, so that no round of the
     * device is in progress.
     */
    long dueNs() {
      Engine engine = pair.left.context.engine();
      engine.lock.lock();
      try {
        return qp.dueNs();
      } finally {
        engine.unlock();
      }
    }

    void assertEndedWithoutTimer() {
      assertEquals(QueuePairState.ERROR, qp.state());
      for (int i = 0; i < BUFFER; i++) {
        assertEquals(
            UNTOUCHED,
            Memory.ALL.get(ValueLayout.JAVA_BYTE, pair.left.mr.address() + i),
            "written after the flush, at " + i);
      }
      assertEquals(Pause.NEVER_NS, dueNs(), "a timer of a dead queue pair");
    }

    void assertOverrunAfterTwoCompletions() {
      WorkCompletion[] batch = WorkCompletion.batch(8);
      assertEquals(2, small.poll(batch));
      assertEquals(Status.SUCCESS, batch[0].status);
      assertEquals(Status.SUCCESS, batch[1].status);
      assertEquals(-Errno.ENOSPC, small.poll(batch));
    }

    /*
     * Waits until the progress thread sleeps without a timer. With a timer in the past it would
     * never sleep.
     */
    void assertBackgroundThreadSleeps() throws InterruptedException {
      Engine engine = pair.left.context.engine();
      Deadline deadline = Deadline.ofSeconds(2);
      while (engine.publishedDue() != Pause.NEVER_NS && !deadline.isOver()) {
        pair.left.context.progress();
        Thread.sleep(5);
      }
      assertEquals(Pause.NEVER_NS, engine.publishedDue(), "the background thread has a date");
    }

    @Override
    public void close() {
      qp.close();
      small.close();
      pair.close();
      arena.close();
    }
  }

  @Test
  void notReadyAnswerThatAlsoAcknowledgesOneTooMany() throws InterruptedException {
    try (Victim victim = new Victim()) {
      victim.post(Operation.RDMA_WRITE, 4, 8);
      victim.acknowledge(SoftPair.PSN + 3, PacketFormat.SYNDROME_RECEIVER_NOT_READY | 12);
      victim.assertEndedWithoutTimer();
      victim.assertOverrunAfterTwoCompletions();
      victim.assertBackgroundThreadSleeps();
    }
  }

  @Test
  void acknowledgementWithBitmapThatAcknowledgesOneTooMany() throws InterruptedException {
    try (Victim victim = new Victim()) {
      victim.post(Operation.RDMA_WRITE, 40, 8);
      victim.acknowledge(SoftPair.PSN + 3, PacketFormat.SYNDROME_ACK, -1L, -1L);
      victim.assertEndedWithoutTimer();
      victim.assertOverrunAfterTwoCompletions();
      victim.assertBackgroundThreadSleeps();
    }
  }

  @Test
  void readResponseThatAcknowledgesOneWriteTooManyBeforeItsData() throws InterruptedException {
    try (Victim victim = new Victim()) {
      victim.post(Operation.RDMA_WRITE, 3, 8);
      victim.post(Operation.RDMA_READ, 1, 2 * MTU);
      victim.respond(PacketFormat.READ_RESPONSE_FIRST, SoftPair.PSN + 3, MTU);
      victim.assertEndedWithoutTimer();
      victim.assertOverrunAfterTwoCompletions();
      victim.assertBackgroundThreadSleeps();
    }
  }

  @Test
  void lateResponsesToDeadQueuePairAreCounted() {
    try (Victim victim = new Victim()) {
      victim.post(Operation.RDMA_WRITE, 3, 8);
      victim.post(Operation.RDMA_READ, 1, 2 * MTU);
      victim.acknowledge(SoftPair.PSN + 2, PacketFormat.SYNDROME_ACK);
      victim.respond(PacketFormat.READ_RESPONSE_FIRST, SoftPair.PSN + 3, MTU);
      victim.respond(PacketFormat.READ_RESPONSE_LAST, SoftPair.PSN + 4, MTU);
      victim.acknowledge(SoftPair.PSN + 4, PacketFormat.SYNDROME_SEQUENCE_ERROR);
      victim.assertEndedWithoutTimer();
      assertEquals(
          3,
          victim
              .pair
              .left
              .context
              .engine()
              .counters
              .drops()
              .get(DropCounters.Reason.IN_FLIGHT_AFTER_ERROR));
    }
  }

  @Test
  void malformedResponsesLeaveNoTimerAndWriteNothingAfterEnd() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("HostileResponsesTest -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    int ended = 0;
    for (int round = 0; round < 60; round++) {
      try (Victim victim = new Victim()) {
        victim.post(Operation.RDMA_WRITE, random.nextInt(6), 8 + random.nextInt(3000));
        /* If a READ is answered while the queue pair lives, the READ's memory may change. */
        victim.post(Operation.RDMA_READ, random.nextInt(2), 1 + random.nextInt(3000));
        victim.post(Operation.RDMA_WRITE, random.nextInt(3), random.nextInt(100));
        for (int i = 0; i < 50 && victim.qp.state() != QueuePairState.ERROR; i++) {
          sendMalformed(victim, random);
        }
        if (victim.qp.state() == QueuePairState.ERROR) {
          ended++;
          assertEquals(Pause.NEVER_NS, victim.dueNs(), "round " + round);
          Memory.ALL.asSlice(victim.pair.left.mr.address(), BUFFER).fill(UNTOUCHED);
          for (int i = 0; i < 20; i++) {
            sendMalformed(victim, random);
          }
          victim.assertEndedWithoutTimer();
        }
      }
    }
    assertTrue(ended > 20, "queue pairs ended: " + ended);
  }

  private static void sendMalformed(Victim victim, Random random) {
    int psn = SoftPair.PSN + random.nextInt(10) - 1;
    switch (random.nextInt(4)) {
      case 0 -> victim.acknowledge(psn, PacketFormat.SYNDROME_ACK);
      case 1 -> victim.acknowledge(psn, random.nextInt(0x70), random.nextLong());
      case 2 ->
          victim.acknowledge(
              psn, PacketFormat.SYNDROME_RECEIVER_NOT_READY | random.nextInt(32), -1L, -1L);
      default ->
          victim.respond(
              PacketFormat.READ_RESPONSE_FIRST + random.nextInt(4),
              psn,
              random.nextBoolean() ? MTU : 4 * random.nextInt(300));
    }
  }
}
