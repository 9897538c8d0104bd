package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests a reader that doesn't wait for completions, like a GPU under NCCL's protocols LL and LL128.
 * It polls lines, each of which is complete once its last bytes have arrived. It then reuses a
 * line's memory, to which a retransmission must not write again.
 */
class PolledLinesTest {
  private static final int BUFFER = 1 << 20;
  private static final int LINE = 128;
  private static final int WIDE_MESSAGE = 60_000;
  /* Longest packet on the narrow path: packets of the path MTU pass, but wide packets don't. */
  private static final int NARROW = 4300;
  private static final int TIMEOUT_CODE = 16;
  private static final long USED = 0xfeed_beef_feed_beefL;

  private SoftPair pair;
  private QueuePair sender;
  private QueuePair receiver;
  private int posted;

  @BeforeEach
  void connect() {
    pair = new SoftPair("", 1, BUFFER);
    sender = pair.left.createQueuePair();
    receiver = pair.right.createQueuePair();
    pair.connect(sender, receiver, PathMtu.MTU_4096, false, TIMEOUT_CODE);
  }

  @AfterEach
  void close() {
    pair.close();
  }

  private void driveUntil(BooleanSupplier done) {
    Deadline deadline = Deadline.ofSeconds(40);
    while (!done.getAsBoolean()) {
      assertFalse(deadline.isOver(), "nothing comes");
      pair.progress();
    }
  }

  private void post(long offset, int bytes) {
    for (long at = 0; at < bytes; at += 8) {
      Memory.ALL.set(
          Memory.NATIVE_LONG, pair.left.mr.address() + offset + at, word(posted, offset + at));
    }
    var wr =
        pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, posted, offset, bytes, pair.right);
    wr.immediate = posted++;
    assertEquals(1, sender.postSend(wr));
  }

  private static long word(int write, long at) {
    return write * 0x9e37_79b9_7f4a_7c15L + at;
  }

  private long received(long offset) {
    return Memory.getLong(pair.right.mr.address() + offset);
  }

  private void markUsed(long offset) {
    Memory.ALL.set(Memory.NATIVE_LONG, pair.right.mr.address() + offset, USED);
  }

  private void awaitArrival(int immediate) {
    driveUntil(() -> pair.right.cq.poll(pair.right.one) == 1);
    assertEquals(Status.SUCCESS, pair.right.one[0].status);
    assertEquals(immediate, pair.right.one[0].immediate);
  }

  private void awaitAcknowledgement() {
    driveUntil(() -> pair.left.cq.poll(pair.left.one) == 1);
    assertEquals(Status.SUCCESS, pair.left.one[0].status);
  }

  private void oneMessage(int bytes) {
    assertEquals(0, receiver.postEmptyReceives(0, 1));
    post(0, bytes);
    awaitArrival(posted - 1);
    awaitAcknowledgement();
  }

  /*
   * Waits until the device sends wide packets, then makes the path narrow: wide packets are lost,
   * and retransmitted in pieces.
   */
  private void makePathNarrow() {
    Counters counters = pair.left.context.engine().counters;
    long packets = Long.MAX_VALUE;
    while (packets >= WIDE_MESSAGE / 4096) {
      long before = counters.packetsSent() - counters.packetsResent();
      oneMessage(WIDE_MESSAGE);
      packets = counters.packetsSent() - counters.packetsResent() - before;
    }
    pair.right.faults().narrow(0, NARROW);
  }

  private static long destination(long packet) {
    return PacketFormat.networkLong(packet + PacketFormat.BTH_BYTES);
  }

  @Test
  void piecesAreWholeLines() {
    makePathNarrow();
    List<Long> places = new ArrayList<>();
    pair.right
        .faults()
        .passOnly(packet -> {
          if (PacketFormat.piece(packet) != 0) {
            places.add(destination(packet) - pair.right.mr.address());
          }
          return true;
        });
    for (int bytes : new int[] {WIDE_MESSAGE, 8704, 8960, 5001, 4297}) {
      oneMessage(bytes);
    }
    assertTrue(places.size() >= PacketFormat.PIECES, "no pieces: " + places);
    places.forEach(place -> assertEquals(0, place % LINE, () -> "pieces at " + places));
  }

  @Test
  void arrivedPieceIsNotPlacedAgain() {
    makePathNarrow();
    assertEquals(0, receiver.postEmptyReceives(0, 1));
    int[] firsts = new int[1];
    pair.right
        .faults()
        .passOnly(packet -> {
          switch (PacketFormat.piece(packet)) {
            case 1 -> {
              if (++firsts[0] == 2) {
                assertEquals(word(posted - 1, 0), received(0), "the first piece isn't placed");
                markUsed(0);
              }
              return true;
            }
            case PacketFormat.PIECES -> {
              return firsts[0] >= 2;
            }
            default -> {
              return true;
            }
          }
        });
    post(0, 8000);
    awaitArrival(posted - 1);
    assertTrue(firsts[0] >= 2, "the first piece came once");
    assertEquals(USED, received(0), "placed again");
    assertEquals(word(posted - 1, 8), received(8));
    assertEquals(word(posted - 1, 7992), received(7992));
    awaitAcknowledgement();
  }

  /*
   * A wide packet is late: it counts as lost and is resent in pieces, and arrives after the first
   * piece.
   */
  @Test
  void latePacketDoesNotReplaceArrivedPiece() {
    makePathNarrow();
    LinkFaults faults = pair.right.faults();
    faults.narrow(0, Integer.MAX_VALUE);
    int[] seconds = new int[1];
    faults.hold(packet -> PacketFormat.piece(packet) == 0);
    faults.passOnly(packet -> {
      if (PacketFormat.piece(packet) == 2 && seconds[0]++ == 0) {
        assertEquals(word(posted - 1, 0), received(0), "the first piece isn't placed");
        markUsed(0);
        faults.releaseHeld();
      }
      return PacketFormat.piece(packet) < 2;
    });
    assertEquals(0, receiver.postEmptyReceives(0, 1));
    post(0, 8000);
    awaitArrival(posted - 1);
    assertEquals(USED, received(0), "placed again");
    assertEquals(word(posted - 1, 8), received(8));
    assertEquals(word(posted - 1, 7992), received(7992));
    awaitAcknowledgement();
  }

  /* The second write arrives first. The first write takes the only receive. */
  @Test
  void writeWithoutReceiveIsNotPlacedAgain() {
    assertEquals(0, receiver.postEmptyReceives(0, 1));
    int[] came = new int[2];
    pair.right
        .faults()
        .passOnly(packet -> {
          if (PacketFormat.opcode(packet) != PacketFormat.WRITE_ONLY_WITH_IMMEDIATE) {
            return true;
          }
          int write = destination(packet) == pair.right.mr.address() ? 0 : 1;
          if (++came[write] == 2 && write == 1) {
            assertEquals(word(1, 4096), received(4096), "the second write isn't placed");
            markUsed(4096);
          }
          /*
           * Drops the first write until the second has arrived, however late the second is posted.
           */
          return write == 1 || came[1] > 0;
        });
    post(0, 1024);
    post(4096, 1024);
    awaitArrival(0);
    driveUntil(() -> came[1] >= 2);
    assertEquals(0, receiver.postEmptyReceives(0, 1));
    awaitArrival(1);
    assertEquals(USED, received(4096), "placed again");
    assertEquals(word(1, 4104), received(4104));
    awaitAcknowledgement();
    awaitAcknowledgement();
  }
}
