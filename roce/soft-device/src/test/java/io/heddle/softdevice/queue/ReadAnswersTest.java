package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.requester.Requester;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests acknowledgements around READs. For a standard peer, only responses may answer a READ: the
 * kernel's rxe treats an acknowledgement of the READ's last sequence number as the READ's answer,
 * and completes the READ without data. For a soft peer, an acknowledgement may cover the READ, and
 * its bitmap begins after the READ.
 */
class ReadAnswersTest {
  private static final int BUFFER = 1 << 16;
  private static final int WRITTEN = 100;
  private static final int READ = 3000;
  private static final int WRITES = 20;
  private static final int READ_AT = 4096;
  private static final int ROUNDS = 40;
  /* Sequence numbers of a round: one for the WRITE, three for the READ. */
  private static final int NUMBERS = 4;
  private static final int PSN_MASK = 0xff_ffff;
  /* Offset of the length in the RETH, after address and key. */
  private static final int RETH_LENGTH = 12;

  private final List<Integer> acknowledged = new ArrayList<>();
  private final Set<Integer> lost = new HashSet<>();

  /* Records acknowledgements. If lossy, drops the first copy of each READ response. */
  private boolean passes(long packet, boolean lossy) {
    int opcode = PacketFormat.opcodeOf(PacketFormat.networkLong(packet));
    int psn = PacketFormat.psn(packet);
    if (opcode == PacketFormat.ACKNOWLEDGE) {
      acknowledged.add(psn);
    }
    boolean response =
        opcode >= PacketFormat.READ_RESPONSE_FIRST && opcode <= PacketFormat.READ_RESPONSE_ONLY;
    return !lossy || !response || !lost.add(psn);
  }

  private static void writeAndRead(SoftPair pair, QueuePair a) {
    SendWorkRequest write = pair.left.request(Operation.RDMA_WRITE, 1, 0, WRITTEN, pair.right);
    write.next = pair.left.request(Operation.RDMA_READ, 2, READ_AT, READ, pair.right);
    assertEquals(2, a.postSend(write));
    awaitCompletions(pair, 2);
  }

  private static void awaitCompletions(SoftPair pair, int count) {
    Deadline deadline = Deadline.ofSeconds(20);
    for (int completed = 0; completed < count; ) {
      pair.progress();
      while (pair.left.cq.poll(pair.left.one) == 1) {
        assertEquals(Status.SUCCESS, pair.left.one[0].status);
        completed++;
      }
      assertFalse(deadline.isOver(), "not completed after 20 s");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void standardPeerGetsNoAcknowledgementOfRead(boolean lossy) {
    Random random = new Random(5);
    try (SoftPair pair = new SoftPair("", BUFFER)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.left.faults().passOnly(packet -> passes(packet, lossy));
      pair.connect(a, b, PathMtu.MTU_1024, true, 16);
      long from = pair.right.mr.address() + READ_AT;
      long to = pair.left.mr.address() + READ_AT;
      for (int round = 0; round < ROUNDS; round++) {
        byte[] fresh = new byte[READ];
        random.nextBytes(fresh);
        MemorySegment.copy(MemorySegment.ofArray(fresh), 0, Memory.ALL, from, READ);
        writeAndRead(pair, a);
        assertEquals(
            -1, MemorySegment.mismatch(Memory.ALL, from, from + READ, Memory.ALL, to, to + READ));
      }
    }
    assertTrue(!acknowledged.isEmpty(), "WRITEs are acknowledged");
    for (int psn : acknowledged) {
      assertEquals(0, (psn - SoftPair.PSN & PSN_MASK) % NUMBERS, "the READ's number " + psn);
    }
    assertEquals(lossy ? ROUNDS * (NUMBERS - 1) : 0, lost.size());
  }

  /*
   * Returns whether the WRITE is a probe: it has length 0 and the sequence number of a packet that
   * has been executed.
   */
  private static boolean isProbe(long packet) {
    return Memory.ALL.get(Memory.NETWORK_INT, packet + PacketFormat.BTH_BYTES + RETH_LENGTH) == 0;
  }

  /* The READ has more sequence numbers than a word of the bitmap has bits. */
  @Test
  void onlyMissingPacketsAfterReadAreRetransmitted() {
    List<Integer> came = new ArrayList<>();
    AtomicInteger reads = new AtomicInteger();
    try (SoftPair pair = new SoftPair("", 2 * BUFFER)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.right
          .faults()
          .passOnly(packet -> {
            int opcode = PacketFormat.opcodeOf(PacketFormat.networkLong(packet));
            if (opcode == PacketFormat.WRITE_ONLY && !isProbe(packet)) {
              came.add(PacketFormat.psn(packet));
              return came.size() > 1;
            }
            if (opcode == PacketFormat.READ_REQUEST) {
              reads.incrementAndGet();
            }
            return true;
          });
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      SendWorkRequest first =
          pair.left.request(Operation.RDMA_READ, 1, 0, BUFFER + READ, pair.right);
      SendWorkRequest last = first;
      for (int i = 0; i < WRITES; i++) {
        last.next = pair.left.request(Operation.RDMA_WRITE, 2 + i, 0, WRITTEN, pair.right);
        last = last.next;
      }
      assertEquals(1 + WRITES, a.postSend(first));
      awaitCompletions(pair, 1 + WRITES);
      long unexpected =
          pair.left.context.engine().counters.drops().get(DropCounters.Reason.UNEXPECTED_RESPONSE);
      /*
       * A timer that was due before the responses were processed may have requested the responses
       * again.
       */
      int most = Requester.readPackets();
      int repeated = reads.get() - ((BUFFER + READ - 1) / 1024 / most + 1);
      assertTrue(
          unexpected <= (long) repeated * most,
          () -> unexpected + " answers that said nothing, and READs asked again: " + repeated);
    }
    /*
     * A timer that is due before the answer is processed sends the oldest packet as a probe. That
     * is the lost packet, so it may arrive more than twice.
     */
    int missed = came.getFirst();
    List<Integer> others = came.stream().filter(psn -> psn != missed).toList();
    assertTrue(came.size() >= others.size() + 2, "the lost WRITE didn't come again: " + came);
    assertEquals(Set.copyOf(others).size(), others.size(), "WRITEs that came again: " + came);
    assertEquals(WRITES - 1, others.size(), "WRITEs that came: " + came);
  }
}
