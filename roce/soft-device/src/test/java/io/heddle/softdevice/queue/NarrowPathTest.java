package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.IdleStopwatch;
import io.heddle.roce.transport.Counters;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests soft devices that agreed on wide packets, with a hop that silently drops wide packets: from
 * the start, later, or for a while.
 */
class NarrowPathTest {
  private static final int BUFFER = 4 << 20;
  private static final int DEPTH = 16;
  private static final int SLICE = BUFFER / DEPTH;
  /* Longest packet on the narrow path: packets of the path MTU pass, but wide packets don't. */
  private static final int NARROW = 4300;
  private static final int WIDE = Integer.MAX_VALUE;
  /*
   * Timeout with which a queue pair fails after 2.1 s of silence. It is long, since on a busy
   * machine the lock's holder may have to wait for a processor.
   */
  private static final int TIMEOUT_CODE = 16;

  private final Random random = new Random(11);

  /*
   * Writes with immediates. Several may be outstanding. The data of each is compared when it
   * arrives.
   */
  private final class Writes implements AutoCloseable {
    final SoftPair pair;
    final QueuePair a;
    final QueuePair b;
    final int links;
    private final int[] bytes = new int[DEPTH];
    private long posted;
    private long acknowledged;
    private long arrived;

    Writes(String faults, int links) {
      this.links = links;
      pair = new SoftPair(faults, links, BUFFER);
      a = pair.left.createQueuePair();
      b = pair.right.createQueuePair();
      assertEquals(0, pair.right.faults().tooLong());
    }

    Writes connected() {
      pair.connect(a, b, PathMtu.MTU_4096, false, TIMEOUT_CODE);
      assertEquals(0, b.postEmptyReceives(0, DEPTH));
      return this;
    }

    void narrow(int longest) {
      for (int link = 0; link < links; link++) {
        pair.right.faults().narrow(link, longest);
      }
    }

    void post(int length) {
      int slot = (int) (posted % DEPTH);
      byte[] fresh = new byte[length];
      random.nextBytes(fresh);
      long from = pair.left.mr.address() + (long) slot * SLICE;
      MemorySegment.copy(MemorySegment.ofArray(fresh), 0, Memory.ALL, from, length);
      bytes[slot] = length;
      var wr =
          pair.left.request(
              Operation.RDMA_WRITE_WITH_IMMEDIATE, posted, (long) slot * SLICE, length, pair.right);
      wr.immediate = (int) posted;
      assertEquals(1, a.postSend(wr));
      posted++;
    }

    void take() {
      pair.progress();
      while (pair.left.cq.poll(pair.left.one) == 1) {
        assertEquals(Status.SUCCESS, pair.left.one[0].status);
        assertEquals(acknowledged++, pair.left.one[0].workRequestId);
      }
      while (pair.right.cq.poll(pair.right.one) == 1) {
        WorkCompletion came = pair.right.one[0];
        int slot = (int) (arrived % DEPTH);
        assertEquals(Status.SUCCESS, came.status);
        assertEquals((int) arrived, came.immediate);
        assertEquals(bytes[slot], came.lengthBytes);
        long at = (long) slot * SLICE;
        long from = pair.left.mr.address() + at;
        long to = pair.right.mr.address() + at;
        assertEquals(
            -1,
            MemorySegment.mismatch(
                Memory.ALL, from, from + bytes[slot], Memory.ALL, to, to + bytes[slot]),
            "byte of write " + arrived);
        arrived++;
        assertEquals(0, b.postEmptyReceives(0, 1));
      }
    }

    void run(int writes, int length, int depth) {
      long end = posted + writes;
      Deadline deadline = Deadline.ofSeconds(40);
      while (Math.min(acknowledged, arrived) < end) {
        assertFalse(
            deadline.isOver(),
            () -> posted + " posted, " + acknowledged + " acknowledged, " + arrived + " arrived");
        if (posted < end && posted - Math.min(acknowledged, arrived) < depth) {
          post(length);
        }
        take();
      }
    }

    /* Writes, and returns the number of packets sent for these writes, without retransmissions. */
    long packetsFor(int writes, int length) {
      Counters counters = pair.left.context.engine().counters;
      long before = counters.packetsSent() - counters.packetsResent();
      run(writes, length, DEPTH);
      return counters.packetsSent() - counters.packetsResent() - before;
    }

    boolean isWide() {
      return packetsFor(1, 8 * 4096) < 8;
    }

    /*
     * Writes until the device uses wide packets again. It probes the path every few seconds, but
     * only when it has something to send.
     */
    void awaitWide() {
      Deadline deadline = Deadline.ofSeconds(10);
      while (!isWide()) {
        assertFalse(deadline.isOver(), "still narrow after 10 s");
      }
    }

    /*
     * Writes until every link carries packets. A link may have been out of use while the other
     * links detected the narrow path. When it is used again, it detects the narrow path by lost
     * trains, and then carries narrow packets. A single link is never taken out of use, and has no
     * counters.
     */
    void runUntilAllLinksCarry(long more, int length, int depth) {
      long[] before = a.linkCounts().stream().mapToLong(LinkCounts::acknowledgedBytes).toArray();
      Deadline deadline = Deadline.ofSeconds(20);
      for (int link = 0; link < before.length; link++) {
        while (carried(link) - before[link] < more) {
          int silent = link;
          assertFalse(deadline.isOver(), () -> "link " + silent + " is left");
          run(10, length, depth);
        }
      }
    }

    long carried(int link) {
      return a.linkCounts().get(link).acknowledgedBytes();
    }

    long resent() {
      return pair.left.context.engine().counters.packetsResent();
    }

    long timeouts() {
      return pair.left.context.engine().counters.timeouts();
    }

    long tooLong() {
      return pair.right.faults().tooLong();
    }

    @Override
    public void close() {
      pair.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void narrowPathFromStartLosesOnlyProbes(int links) {
    try (Writes writes = new Writes("", links)) {
      writes.narrow(NARROW);
      writes.connected();
      for (int i = 0; i < 10; i++) {
        assertFalse(writes.isWide());
        writes.run(10, 100_000, DEPTH);
      }
      assertTrue(writes.tooLong() >= links, "questions: " + writes.tooLong());
      assertTrue(writes.tooLong() <= 13L * links, "questions: " + writes.tooLong());
      /* On a busy machine, timeouts may make the device probe its peer with retransmissions. */
      assertTrue(writes.resent() <= 20 + writes.timeouts(), "resent: " + writes.resent());
    }
  }

  @ParameterizedTest
  @CsvSource({
    /* columns: links, bytes of a write, outstanding writes */
    "1, 250000, 16",
    "1, 61440, 8",
    "1, 61440, 1",
    "1, 8000, 1",
    "1, 8960, 16",
    "1, 5001, 16",
    "4, 250000, 16",
    "4, 8000, 4",
  })
  void pathThatBecomesNarrowIsWideAgainLater(int links, int bytes, int depth) {
    try (Writes writes = new Writes("", links).connected()) {
      writes.awaitWide();
      writes.run(200, bytes, depth);
      for (int i = 0; i < depth; i++) {
        writes.post(bytes);
      }
      writes.narrow(NARROW);
      writes.run(200, bytes, depth);
      assertTrue(writes.tooLong() > 0, "none met the narrow path");
      writes.runUntilAllLinksCarry(1 << 20, bytes, depth);
      long lost = writes.tooLong();
      assertFalse(writes.isWide());
      writes.run(100, bytes, depth);
      assertTrue(writes.tooLong() - lost <= 13L * links, "lost: " + (writes.tooLong() - lost));
      writes.narrow(WIDE);
      writes.awaitWide();
      writes.run(100, bytes, depth);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1, 'loss=0.05,duplicate=0.02,reorder=0.05,corrupt=0.02'",
    "4, 'loss=0.02,duplicate=0.02,reorder=0.02,corrupt=0.01'",
    "1, 'ghost=0.02,ghost-ms=20,loss=0.02,reorder=0.02'",
  })
  void piecesSurviveFaults(int links, String faults) {
    try (Writes writes = new Writes(faults, links).connected()) {
      for (int round = 0; round < 8; round++) {
        writes.run(25, 1 + random.nextInt(100_000), DEPTH);
        writes.run(25, 4000 + random.nextInt(6000), DEPTH);
        writes.narrow(round % 2 == 0 ? NARROW : WIDE);
      }
    }
  }

  /* The peer receives the probes of all links in one polling round, and answers them one by one. */
  @Test
  void widePathsOfManyLinksAreRecognised() {
    try (Writes writes = new Writes("", 8).connected()) {
      IdleStopwatch watch = IdleStopwatch.start();
      while (watch.ns() < 600_000_000) {
        writes.run(10, 250_000, DEPTH);
      }
      assertTrue(
          writes.pair.lines.stream().noneMatch(line -> line.contains("don't pass")),
          writes.pair.lines::toString);
      assertTrue(writes.isWide());
    }
  }

  @Test
  void oneNarrowLinkOfSeveralStaysInUse() {
    try (Writes writes = new Writes("", 4).connected()) {
      writes.awaitWide();
      writes.run(200, 250_000, DEPTH);
      writes.pair.right.faults().narrow(2, NARROW);
      writes.run(200, 250_000, DEPTH);
      /* If everything outstanding on a link was lost, the link is out of use for a while. */
      long before = writes.carried(2);
      Deadline deadline = Deadline.ofSeconds(10);
      while (writes.carried(2) == before) {
        assertFalse(deadline.isOver(), "link 2 carries nothing");
        writes.run(10, 250_000, DEPTH);
      }
      before = writes.carried(2);
      writes.run(200, 250_000, DEPTH);
      long carried = writes.carried(2) - before;
      assertTrue(carried > 200 * 250_000L / 16, "link 2 carried " + carried);
    }
  }

  @Test
  void pieceWithoutReceiveIsRetransmitted() {
    try (Writes writes = new Writes("", 1)) {
      writes.pair.connect(writes.a, writes.b, PathMtu.MTU_4096, false, TIMEOUT_CODE);
      assertEquals(0, writes.b.postEmptyReceives(0, 1));
      writes.post(8000);
      while (writes.arrived == 0 || writes.acknowledged == 0) {
        writes.take(); /* also posts the receive for the next write */
      }
      writes.run(10, 8000, 1);
      writes.narrow(NARROW);
      writes.post(8000);
      writes.post(8000); /* finds no receive until the first write has been taken */
      writes.run(20, 8000, 2);
    }
  }
}
