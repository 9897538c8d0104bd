package io.heddle.roce.transport.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.connection.VirtualPair.Completed;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the transport without a device: no socket, no thread, and simulated time. */
class ReliableConnectionTest {
  private static final int MESSAGES = 16;
  private static final int MESSAGE_BYTES = 100_003;
  private static final int BUFFER_BYTES = MESSAGES * MESSAGE_BYTES;
  private static final int ROUNDS = Boolean.getBoolean("heddle.test.whole") ? 50 : 20;
  private static final long MINUTE_NS = 60_000_000_000L;

  private static void fill(VirtualPair.End end, long seed) {
    byte[] bytes = new byte[BUFFER_BYTES];
    new Random(seed).nextBytes(bytes);
    for (int i = 0; i < bytes.length; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, end.buffer + i, bytes[i]);
    }
  }

  private static boolean areEqual(VirtualPair pair) {
    return areEqual(pair, 0, BUFFER_BYTES);
  }

  private static boolean areEqual(VirtualPair pair, int offset, int bytes) {
    return Memory.ALL
            .asSlice(pair.left.buffer + offset, bytes)
            .mismatch(Memory.ALL.asSlice(pair.right.buffer + offset, bytes))
        < 0;
  }

  @ParameterizedTest
  @CsvSource({"true, 0", "true, 0.05", "true, 0.3", "false, 0", "false, 0.02"})
  void writesArriveInOrderDespiteLoss(boolean soft, double loss) {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("ReliableConnectionTest -Dheddle.seed=" + seed);
    try (VirtualPair pair = new VirtualPair(seed, loss, soft, BUFFER_BYTES)) {
      fill(pair.left, seed);
      pair.right.postReceives(MESSAGES);
      for (int i = 0; i < MESSAGES; i++) {
        pair.left.post(Operation.RDMA_WRITE_WITH_IMMEDIATE, i, i * MESSAGE_BYTES, MESSAGE_BYTES);
      }
      pair.run(MINUTE_NS);
      for (int i = 0; i < MESSAGES; i++) {
        assertEquals(
            new Completed(i, Status.SUCCESS, Kind.RDMA_WRITE, 0), pair.left.completed.get(i));
        assertEquals(
            new Completed(0, Status.SUCCESS, Kind.RECEIVE_RDMA_WITH_IMMEDIATE, i),
            pair.right.completed.get(i));
      }
      assertTrue(areEqual(pair), "what arrived");
      assertEquals(loss > 0, pair.lost() > 0, "packets lost");
    }
  }

  private static void write(VirtualPair pair) {
    pair.left.completed.clear();
    pair.right.completed.clear();
    pair.right.postReceives(MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
      pair.left.post(Operation.RDMA_WRITE_WITH_IMMEDIATE, i, i * MESSAGE_BYTES, MESSAGE_BYTES);
    }
    pair.run(MINUTE_NS);
    assertEquals(MESSAGES, pair.left.completed.size());
    assertTrue(
        pair.left.completed.stream().allMatch(each -> each.status() == Status.SUCCESS),
        pair.left.completed::toString);
    assertTrue(areEqual(pair), "what arrived");
  }

  @ParameterizedTest
  @CsvSource({"true, 1", "false, 1", "true, 4"})
  void pathThatLosesTrainsGetsSinglePacketsForAWhile(boolean soft, int links) {
    try (VirtualPair pair = new VirtualPair(5, 0, soft, links, BUFFER_BYTES)) {
      fill(pair.left, 5);
      write(pair);
      assertEquals(0, pair.lost());
      pair.loseLongerThan(9100);
      long beganNs = pair.nowNs();
      while (pair.singlePacketWarnings() < links) {
        write(pair);
        assertTrue(pair.nowNs() - beganNs < 1_000_000_000, "still by trains after a second");
      }
      long lost = pair.lost();
      write(pair);
      assertTrue(pair.lost() - lost <= 15L * links, "a trial of each link at most");

      long startNs = pair.nowNs();
      pair.loseLongerThan(Integer.MAX_VALUE);
      long trains = 0;
      while (trains < 16) {
        pair.advanceIdle(50_000_000);
        long before = pair.trains();
        write(pair);
        trains = pair.trains() - before;
        assertTrue(pair.nowNs() - startNs < 60_000_000_000L, "no train after a minute");
      }
      assertEquals(links, pair.singlePacketWarnings(), "told once of each link");
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.05, 0.3})
  void randomLossKeepsTrains(double loss) {
    try (VirtualPair pair = new VirtualPair(6, loss, true, BUFFER_BYTES)) {
      fill(pair.left, 6);
      for (int i = 0; i < 20; i++) {
        write(pair);
      }
      assertEquals(0, pair.singlePacketWarnings());
    }
  }

  @Test
  void readsReturnPeersMemory() {
    try (VirtualPair pair = new VirtualPair(1, 0.05, true, BUFFER_BYTES)) {
      fill(pair.right, 2);
      for (int i = 0; i < MESSAGES; i++) {
        pair.left.post(Operation.RDMA_READ, i, i * MESSAGE_BYTES, MESSAGE_BYTES);
      }
      pair.run(MINUTE_NS);
      assertEquals(MESSAGES, pair.left.completed.size());
      assertTrue(areEqual(pair), "what was read");
    }
  }

  /*
   * A timeout takes at least 2 ms. So READs that waited for a timeout after each loss would exceed
   * the limit of 1 ms for each lost packet.
   */
  @ParameterizedTest
  @CsvSource({"true, 1", "true, 4", "false, 1"})
  void lostResponseIsRequestedAtNextResponse(boolean soft, int links) {
    long tookNs = 0;
    long lost = 0;
    for (int round = 0; round < ROUNDS; round++) {
      try (VirtualPair pair = new VirtualPair(round, 0.02, soft, links, BUFFER_BYTES)) {
        fill(pair.right, round);
        long begin = pair.nowNs();
        for (int i = 0; i < MESSAGES; i++) {
          pair.left.post(Operation.RDMA_READ, i, i * MESSAGE_BYTES, MESSAGE_BYTES);
        }
        while (pair.left.completed.size() < MESSAGES) {
          pair.run(100_000);
        }
        tookNs += pair.nowNs() - begin;
        lost += pair.lost();
        assertTrue(areEqual(pair), "what was read in round " + round);
      }
    }
    assertTrue(tookNs / lost < 1_000_000, tookNs / lost + " ns for each packet that was lost");
  }

  /*
   * Writes go to the lower half of the buffer, READs to the upper half. An answer may acknowledge
   * more than a READ, or only sequence numbers that bitmaps have acknowledged before. Writes may
   * fill the window after a READ that must be repeated.
   */
  @ParameterizedTest
  @CsvSource({
    "true, 1, 0",
    "true, 1, 0.02",
    "true, 1, 0.1",
    "true, 4, 0",
    "true, 4, 0.02",
    "true, 4, 0.1",
    "false, 1, 0",
    "false, 1, 0.02"
  })
  void readsAmongWritesSurviveLoss(boolean soft, int links, double loss) {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("ReliableConnectionTest -Dheddle.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++) {
      readAmongWrites(seed + round, soft, links, loss);
    }
  }

  private static void readAmongWrites(long seed, boolean soft, int links, double loss) {
    int half = BUFFER_BYTES / 2;
    int count = 4 * MESSAGES;
    int[] offsets = new int[count];
    int[] lengths = new int[count];
    Random random = new Random(seed);
    try (VirtualPair pair = new VirtualPair(seed, loss, soft, links, BUFFER_BYTES)) {
      fill(pair.left, seed);
      fill(pair.right, seed + 1);
      for (int i = 0; i < count; i++) {
        boolean reads = random.nextBoolean();
        lengths[i] = 1 + random.nextInt(random.nextBoolean() ? 64 : half - 1);
        offsets[i] = random.nextInt(half - lengths[i]) + (reads ? half : 0);
        Operation operation = reads ? Operation.RDMA_READ : Operation.RDMA_WRITE;
        pair.left.post(operation, i, offsets[i], lengths[i]);
        if (random.nextInt(4) == 0) {
          pair.run(random.nextInt(1_000_000));
        }
        if (links > 1 && random.nextInt(8) == 0) {
          pair.cut(random.nextBoolean() ? 0 : 1 << random.nextInt(links));
        }
      }
      pair.run(MINUTE_NS);
      String told = "seed " + seed;
      assertEquals(count, pair.left.completed.size(), told);
      for (int i = 0; i < count; i++) {
        assertEquals(i, pair.left.completed.get(i).id(), told);
        assertEquals(Status.SUCCESS, pair.left.completed.get(i).status(), told);
        assertTrue(areEqual(pair, offsets[i], lengths[i]), told);
      }
    }
  }

  /*
   * A packet that arrived early counts as not received if no receive is posted when its immediate
   * is due.
   */
  @ParameterizedTest
  @CsvSource({"1, 0", "1, 0.1", "4, 0", "4, 0.1"})
  void immediatesWaitForLateReceives(int links, double loss) {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("ReliableConnectionTest -Dheddle.seed=" + seed);
    for (int round = 0; round < ROUNDS; round++) {
      waitForReceives(seed + round, links, loss);
    }
  }

  private static void waitForReceives(long seed, int links, double loss) {
    Random random = new Random(seed);
    try (VirtualPair pair = new VirtualPair(seed, loss, true, links, BUFFER_BYTES)) {
      fill(pair.left, seed);
      pair.reorderPackets(30_000);
      for (int i = 0; i < MESSAGES; i++) {
        pair.left.post(Operation.RDMA_WRITE_WITH_IMMEDIATE, i, i * MESSAGE_BYTES, MESSAGE_BYTES);
      }
      for (int i = 0; i < MESSAGES; i++) {
        pair.run(random.nextInt(2_000_000));
        pair.right.postReceives(1);
      }
      pair.run(MINUTE_NS);
      String told = "seed " + seed;
      for (int i = 0; i < MESSAGES; i++) {
        Completed sent = new Completed(i, Status.SUCCESS, Kind.RDMA_WRITE, 0);
        assertEquals(sent, pair.left.completed.get(i), told);
        Completed received = new Completed(0, Status.SUCCESS, Kind.RECEIVE_RDMA_WITH_IMMEDIATE, i);
        assertEquals(received, pair.right.completed.get(i), told);
      }
      assertTrue(areEqual(pair), told);
    }
  }

  @Test
  void silentPeerIsGivenUp() {
    try (VirtualPair pair = new VirtualPair(1, 1, true, BUFFER_BYTES)) {
      pair.left.post(Operation.RDMA_WRITE, 3, 0, 8);
      pair.run(MINUTE_NS);
      assertEquals(
          List.of(new Completed(3, Status.RETRY_EXCEEDED, Kind.RDMA_WRITE, 0)),
          pair.left.completed);
      assertTrue(pair.left.isInError());
    }
  }

  /* Two runs with one seed behave alike. */
  @Test
  void runsWithOneSeedBehaveAlike() {
    long[][] runs = new long[2][];
    for (int run = 0; run < 2; run++) {
      try (VirtualPair pair = new VirtualPair(5, 0.1, true, BUFFER_BYTES)) {
        pair.left.post(Operation.RDMA_WRITE, 0, 0, BUFFER_BYTES);
        pair.run(MINUTE_NS);
        runs[run] = new long[] {pair.nowNs(), pair.sent(), pair.lost()};
      }
    }
    assertEquals(
        List.of(runs[0][0], runs[0][1], runs[0][2]), List.of(runs[1][0], runs[1][1], runs[1][2]));
  }

  private static void writeAll(VirtualPair pair, int rounds) {
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < MESSAGES; i++) {
        pair.left.post(Operation.RDMA_WRITE, i, i * MESSAGE_BYTES, MESSAGE_BYTES);
      }
      pair.run(MINUTE_NS);
    }
  }

  @ParameterizedTest
  @CsvSource({"5000", "20000", "200000"})
  void sprayingCausesFewSpuriousRetransmissions(long spreadNs) {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("ReliableConnectionTest -Dheddle.seed=" + seed);
    try (VirtualPair pair = new VirtualPair(seed, 0, true, BUFFER_BYTES)) {
      pair.reorderPackets(spreadNs);
      writeAll(pair, 10);
      Counters counters = pair.left.counters;
      assertTrue(counters.packetsSpuriouslyResent() > 0, "packets overtake each other");
      long sent = counters.packetsSent();
      long resent = counters.packetsResent();
      System.out.printf("spread by %s ns: %s of %s again%n", spreadNs, resent, sent);
      writeAll(pair, 100);
      long later = counters.packetsResent() - resent;
      assertTrue(later < (counters.packetsSent() - sent) / 1000, later + " sent again later");
      assertEquals(0, counters.timeouts());
    }
  }

  @ParameterizedTest
  @CsvSource({"0", "20000"})
  void lossIsRepairedWithAndWithoutSpraying(long spreadNs) {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("ReliableConnectionTest -Dheddle.seed=" + seed);
    try (VirtualPair pair = new VirtualPair(seed, 0.01, true, BUFFER_BYTES)) {
      fill(pair.left, seed);
      pair.reorderPackets(spreadNs);
      writeAll(pair, 10);
      Counters counters = pair.left.counters;
      long inVain = counters.packetsSpuriouslyResent();
      assertEquals(spreadNs > 0, inVain > 0, "packets overtake each other only where spread");
      writeAll(pair, 100);
      assertTrue(areEqual(pair), "what arrived");
      long later = counters.packetsSpuriouslyResent() - inVain;
      assertTrue(later < counters.packetsSent() / 1000, later + " spurious later");
    }
  }
}
