package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.roce.wire.PsnBits;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

/** Tests a queue pair over several links: one packet sequence over independent links. */
class SeveralLinksTest {
  private static final int LINKS = 4;
  private static final int BUFFER = 8 << 20;
  private static final int MESSAGE = 1 << 20;
  /* Payload of a full packet between soft devices on the loopback. */
  private static final int PACKET = PacketSizes.MOST_BYTES;
  private static final int TRAIN = 7 * PACKET;

  /*
   * Writes messages of a MiB one after the other, each with different bytes, and checks the
   * messages that arrived.
   */
  private static final class Stream implements AutoCloseable {
    final SoftPair pair;
    final QueuePair a;
    final QueuePair b;
    private long posted;
    private long acknowledged;
    private long arrived;

    Stream(SoftPair pair) {
      this.pair = pair;
      a = pair.left.createQueuePair();
      b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, false, 14);
      assertEquals(0, b.postEmptyReceives(0, 200));
    }

    private static long offset(long message) {
      return message % (BUFFER / MESSAGE) * MESSAGE;
    }

    private void post() {
      long offset = offset(posted);
      for (int i = 0; i < MESSAGE; i += 8) {
        Memory.ALL.set(
            Memory.NATIVE_LONG,
            pair.left.mr.address() + offset + i,
            (posted * MESSAGE + i) * 0x9e3779b97f4a7c15L);
      }
      assertEquals(
          1,
          a.postSend(
              pair.left.request(
                  Operation.RDMA_WRITE_WITH_IMMEDIATE, posted, offset, MESSAGE, pair.right)));
      posted++;
    }

    private void take() {
      pair.progress();
      while (pair.left.cq.poll(pair.left.one) == 1) {
        assertEquals(Status.SUCCESS, pair.left.one[0].status);
        assertEquals(acknowledged++, pair.left.one[0].workRequestId);
      }
      while (pair.right.cq.poll(pair.right.one) == 1) {
        assertEquals(Status.SUCCESS, pair.right.one[0].status);
        long from = pair.left.mr.address() + offset(arrived);
        long to = pair.right.mr.address() + offset(arrived);
        assertEquals(
            -1,
            MemorySegment.mismatch(Memory.ALL, from, from + MESSAGE, Memory.ALL, to, to + MESSAGE),
            "byte of message " + arrived);
        arrived++;
        assertEquals(0, b.postEmptyReceives(0, 1));
      }
    }

    void run(String what, BooleanSupplier until) {
      Deadline deadline = Deadline.ofSeconds(40);
      while (!until.getAsBoolean()) {
        assertFalse(
            deadline.isOver(),
            () ->
                "not within %s: %s; %s posted, %s acknowledged, %s arrived, %s"
                    .formatted(deadline, what, posted, acknowledged, arrived, counts()));
        /* An arrived message's memory isn't overwritten before the message is acknowledged too. */
        if (posted - Math.min(acknowledged, arrived) < 4) {
          post();
        }
        take();
      }
    }

    void messages(int count) {
      long end = arrived + count;
      run(count + " messages", () -> arrived >= end);
    }

    void finish() {
      Deadline deadline = Deadline.ofSeconds(40);
      while (acknowledged < posted || arrived < posted) {
        assertFalse(deadline.isOver(), () -> "not finished: " + counts());
        take();
      }
    }

    List<LinkCounts> counts() {
      return a.linkCounts();
    }

    long sent(int link) {
      return counts().get(link).sentBytes();
    }

    @Override
    public void close() {
      pair.close();
    }
  }

  private static Stream stream(String faults) {
    return new Stream(new SoftPair(faults, LINKS, BUFFER));
  }

  @Test
  void bytesFollowWeights() {
    try (Stream stream = stream("")) {
      stream.a.setLinkWeights(new int[] {4, 2, 1, 1});
      stream.messages(40);
      stream.finish();
      long total = stream.counts().stream().mapToLong(LinkCounts::sentBytes).sum();
      int[] eighths = {4, 2, 1, 1};
      for (int link = 0; link < LINKS; link++) {
        assertEquals(
            total * eighths[link] / 8.0,
            stream.sent(link),
            total * 0.04,
            stream.counts().toString());
      }
      /* Nothing was lost, so each link received as many bytes as it sent, apart from probes. */
      for (int link = 0; link < LINKS; link++) {
        assertEquals(
            stream.sent(link),
            stream.b.linkCounts().get(link).receivedBytes(),
            total * 0.04,
            "link " + link);
      }
      assertEquals(total, stream.counts().stream().mapToLong(LinkCounts::acknowledgedBytes).sum());
    }
  }

  @Test
  void newWeightsApplyFromNextTrain() {
    try (Stream stream = stream("")) {
      stream.messages(4);
      stream.a.setLinkWeights(new int[] {0, 1, 1, 1});
      long before = stream.sent(0);
      stream.messages(8);
      assertEquals(before, stream.sent(0), "bytes by a link that weighs nothing");
      stream.a.setLinkWeights(new int[] {0, 0, 0, 0});
      stream.messages(8);
      assertTrue(stream.sent(0) > before, "where nothing weighs something, all carry");
      stream.finish();
    }
  }

  @Test
  void slowLinkCausesReorderingWithoutLoss() {
    try (Stream stream = stream("")) {
      stream.pair.right.faults().delay(2, 1_500_000);
      stream.messages(60);
      stream.finish();
      long resent = stream.a.resentPackets();
      long sent = stream.counts().stream().mapToLong(LinkCounts::sentBytes).sum() / PACKET;
      /* The limit isn't zero, since a probe may be sent too early on a busy host. */
      assertTrue(resent < sent / 20, resent + " of " + sent + " packets were sent again");
      long[] ahead = new long[PsnBits.BIT_LENGTHS];
      for (LinkCounts counts : stream.b.linkCounts()) {
        Arrays.setAll(ahead, i -> ahead[i] + counts.ahead()[i]);
      }
      long far = Arrays.stream(ahead).skip(5).sum();
      assertTrue(far > 0, "nothing came 16 packets ahead: " + Arrays.toString(ahead));
    }
  }

  @Test
  void onlyLostPacketsAreRetransmitted() {
    try (Stream stream = stream("loss=0.01,seed=5")) {
      stream.messages(40);
      stream.finish();
      long sent = stream.counts().stream().mapToLong(LinkCounts::sentBytes).sum() / PACKET;
      long resent = stream.a.resentPackets();
      /* The bounds allow for lost acknowledgements and for retransmissions. */
      assertTrue(
          resent > sent / 200 && resent < sent / 25,
          resent + " of " + sent + " packets were sent again");
    }
  }

  @Test
  void failedLinkRestsAndReturns() {
    try (Stream stream = stream("")) {
      stream.messages(4);
      cut(stream.pair, 2, true);
      stream.run("link 2 is left", () -> stream.counts().get(2).resting());
      long left = stream.sent(2);
      stream.messages(20);
      assertEquals(left, stream.sent(2), "bytes by a link that rests");
      cut(stream.pair, 2, false);
      stream.run("link 2 is used again", () -> stream.sent(2) > left + 20 * TRAIN);
      stream.finish();
      assertTrue(stream.pair.right.faults().lost() > 0);
      assertEquals(1, stream.counts().get(2).silences());
    }
  }

  @Test
  void reportedLinkLossTakesEffectAtOnce() {
    try (Stream stream = stream("")) {
      stream.messages(4);
      cut(stream.pair, 2, true);
      stream.a.linkLost(2);
      assertTrue(stream.counts().get(2).resting(), "what the host says needs no silence");
      long left = stream.sent(2);
      stream.messages(20);
      assertEquals(left, stream.sent(2), "bytes by a link that rests");
      stream.a.linkLost(2);
      assertEquals(1, stream.counts().get(2).silences(), "what rests can't be lost");
      cut(stream.pair, 2, false);
      stream.run("link 2 is used again", () -> stream.sent(2) > left + 20 * TRAIN);
      stream.finish();
    }
  }

  @Test
  void lastLinkStaysInUse() {
    try (Stream stream = stream("")) {
      stream.messages(2);
      stream.finish();
      for (int link = 0; link < LINKS; link++) {
        stream.a.linkLost(link);
      }
      assertEquals(3, stream.counts().stream().filter(LinkCounts::resting).count());
      stream.messages(4);
      stream.finish();
    }
  }

  @Test
  void silentLinkRestsAfterFirstProbe() {
    try (Stream stream = stream("")) {
      cut(stream.pair, 2, true);
      stream.messages(4);
      assertEquals(1, stream.counts().get(2).silences(), stream.counts().toString());
      stream.finish();
    }
  }

  @Test
  void linkWithoutReturnPathRests() {
    try (Stream stream = stream("")) {
      stream.messages(2);
      stream.pair.left.faults().cut(1, true);
      stream.run("no answer comes over link 1", () -> stream.pair.left.faults().lost() > 0);
      stream.messages(20);
      stream.finish();
    }
  }

  @Test
  void oneLinkSufficesAndNoneIsError() {
    try (Stream stream = stream("")) {
      stream.messages(2);
      for (int link = 0; link < LINKS - 1; link++) {
        cut(stream.pair, link, true);
      }
      stream.messages(10);
      cut(stream.pair, LINKS - 1, true);
      stream.post();
      Deadline deadline = Deadline.ofSeconds(40);
      while (stream.a.state() != QueuePairState.ERROR) {
        assertFalse(deadline.isOver(), "still not broken");
        stream.pair.progress();
      }
      boolean told = false;
      while (stream.pair.left.cq.poll(stream.pair.left.one) == 1) {
        told |= stream.pair.left.one[0].status == Status.RETRY_EXCEEDED;
      }
      assertTrue(told, "no completion says that retries were exceeded");
    }
  }

  private static void cut(SoftPair pair, int link, boolean on) {
    pair.left.faults().cut(link, on);
    pair.right.faults().cut(link, on);
  }

  @Test
  void missingAddressLeavesLinkUnused() {
    try (SoftPair pair = new SoftPair("", LINKS, BUFFER)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, new int[] {-1, 1, 2, 3}, b, new int[] {0, 1, -1, 3}, PathMtu.MTU_4096);
      b.postEmptyReceives(0, 1);
      SendWorkRequest wr =
          pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, MESSAGE, pair.right);
      assertEquals(1, a.postSend(wr));
      assertEquals(Status.SUCCESS, pair.await(pair.right).status);
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      List<LinkCounts> counts = a.linkCounts();
      assertEquals(0, counts.get(0).sentBytes());
      assertEquals(0, counts.get(2).sentBytes());
      assertTrue(counts.get(1).sentBytes() > 0 && counts.get(3).sentBytes() > 0);
    }
  }

  @Test
  void rejectsReadsSendsAndOtherLinkCounts() {
    try (SoftPair pair = new SoftPair("", LINKS, BUFFER)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, false, 14);
      for (Operation refused : List.of(Operation.SEND, Operation.RDMA_READ)) {
        assertEquals(-Errno.EINVAL, a.postSend(pair.left.request(refused, 1, 0, 64, pair.right)));
      }
      QueuePair c = pair.left.createQueuePair();
      QueuePair d = pair.right.createQueuePair();
      VerbsException refused =
          assertThrows(
              VerbsException.class,
              () ->
                  pair.connect(
                      c, new int[] {0, 1, 2}, d, new int[] {0, 1, 2, 3}, PathMtu.MTU_4096));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("it has 3 links, the peer 4"),
          refused.getMessage());
    }
  }
}
