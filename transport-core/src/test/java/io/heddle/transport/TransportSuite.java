package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.testing.Deadline;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsReader;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.device.TransportResult;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the transport's contract with NCCL, over any provider. */
abstract class TransportSuite {
  static final List<Integer> FOUR = List.of(1, 2, 3, 4);

  @TempDir Path folder;

  /** Opens two transports that reach each other. */
  abstract Ends ends(List<Integer> left, List<Integer> right, Map<String, String> more);

  final Ends ends() {
    return ends(FOUR, FOUR, Map.of());
  }

  @ParameterizedTest
  @ValueSource(
      ints = {0, 1, 8, 127, 128, 129, 4096, 61_439, 61_440, 61_441, 1 << 20, 3_932_161, 6_000_001})
  void messageOfAnySizeArrivesWholeWithItsSize(int lengthBytes) {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      ends.exchange(link, lengthBytes, lengthBytes, 1);
      ends.exchange(link, lengthBytes, lengthBytes + 1000, 2);
    }
  }

  @Test
  void oneListenerServesConnectsBeforeAndAfterAccept() {
    try (Ends ends = ends()) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      long secondHandle = ends.handle();
      io.heddle.platform.Memory.copy(handle, secondHandle, 128);
      for (int i = 0; i < 5; i++) {
        assertEquals(null, ends.right.accept(listener), "no connection yet");
      }
      Ends.Link first = ends.connect(listener, handle);
      /* For the second connection, the connecting side finishes before anybody accepts. */
      SendComm[] sender = new SendComm[1];
      Ends.await(
          "connection without accept",
          () -> (sender[0] = ends.left.connect(0, -1, secondHandle)) != null);
      RecvComm[] receiver = new RecvComm[1];
      Ends.await("acceptance", () -> (receiver[0] = ends.right.accept(listener)) != null);
      Ends.Link second = ends.link(sender[0], receiver[0], listener);
      ends.exchange(second, 100_000, 100_000, 3);
      ends.exchange(first, 100_000, 100_000, 4);
      second.sender().close();
      second.receiver().close();
      first.close();
    }
  }

  @Test
  void slotsAndGenerationsWrapWithAllReceivesOutstanding() {
    int messages = 256 * 16 * 2 + 77;
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long from = ends.memory(messages * 8L);
      long to = ends.memory(messages * 8L);
      long fromHandle = link.sender().registerMemory(from, messages * 8L, 1);
      long toHandle = link.receiver().registerMemory(to, messages * 8L, 1);
      ArrayDeque<Long> receives = new ArrayDeque<>();
      ArrayDeque<Long> sends = new ArrayDeque<>();
      // counts of posted receives, posted sends, done receives, would-blocks
      int[] counts = new int[4];
      for (int i = 0; i < messages; i++) {
        io.heddle.platform.Memory.ALL.set(
            io.heddle.platform.Memory.NATIVE_LONG, from + i * 8L, i * 31L);
      }
      Ends.await(
          "end of the traffic",
          () -> {
            while (counts[0] < messages) {
              long request = ends.tryReceive(link, to + counts[0] * 8L, 8, 1, toHandle);
              assertTrue(request >= 0, "irecv returned " + request);
              if (request == 0) {
                /*
                 * The receiver allows fewer receives in flight while the clear-to-send entries of a
                 * slot's last group are unacknowledged.
                 */
                assertTrue(counts[0] - counts[2] <= 256, "receives that are outstanding");
                counts[3] += (counts[0] - counts[2]) / 256;
                break;
              }
              receives.add(request);
              counts[0]++;
            }
            while (counts[1] < messages) {
              long request = link.sender().isend(from + counts[1] * 8L, 8, 1, fromHandle);
              assertTrue(request >= 0, "isend returned " + request);
              if (request == 0) {
                break;
              }
              sends.add(request);
              counts[1]++;
            }
            Ends.progress(link);
            while (!receives.isEmpty() && Ends.isDone(receives.peek())) {
              Ends.release(receives.remove());
              counts[2]++;
            }
            while (!sends.isEmpty() && Ends.isDone(sends.peek())) {
              Ends.release(sends.remove());
            }
            return counts[2] == messages && sends.isEmpty();
          });
      assertTrue(counts[3] > 0, "the window was never full");
      for (int i = 0; i < messages; i++) {
        assertEquals(
            i * 31L,
            (long)
                io.heddle.platform.Memory.ALL.get(
                    io.heddle.platform.Memory.NATIVE_LONG, to + i * 8L));
      }
    }
  }

  @Test
  void tagsChooseTheBufferInsideAGroupAndTheFirstUnusedWins() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      int room = 70_000;
      long from = ends.memory(8L * room);
      long to = ends.memory(8L * room);
      long fromHandle = link.sender().registerMemory(from, 8L * room, 1);
      long toHandle = link.receiver().registerMemory(to, 8L * room, 1);
      for (int round = 0; round < 60; round++) {
        int n = 1 + random.nextInt(8);
        long[] addresses = new long[n];
        long[] rooms = new long[n];
        int[] tags = new int[n];
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < n; i++) {
          addresses[i] = to + (long) i * room;
          rooms[i] = room;
          tags[i] = random.nextInt(4); // some of eight tags are equal
          order.add(tags[i]);
        }
        java.util.Collections.shuffle(order, random);
        long receive = ends.receive(link, addresses, rooms, tags, toHandle);
        assertTrue(receive > 0);
        boolean[] used = new boolean[n];
        int[] expected = new int[n];
        List<Long> sends = new ArrayList<>();
        for (int i = 0; i < n; i++) {
          int length = random.nextInt(4) == 0 ? 0 : random.nextInt(room);
          int buffer = 0;
          while (used[buffer] || tags[buffer] != order.get(i)) {
            buffer++;
          }
          used[buffer] = true;
          expected[buffer] = length;
          Ends.fill(from + (long) i * room, length, seedOf(round, buffer));
          sends.add(Ends.send(link, from + (long) i * room, length, order.get(i), fromHandle));
        }
        Ends.await(
            "completion of the group, seed " + seed,
            () -> {
              Ends.progress(link);
              return Ends.isDone(receive);
            });
        assertEquals(n, Ends.count(receive));
        for (int i = 0; i < n; i++) {
          assertEquals(expected[i], Ends.size(receive, i), "buffer " + i + ", seed " + seed);
          Ends.check(addresses[i], expected[i], seedOf(round, i));
        }
        Ends.release(receive);
        sends.forEach(send -> Ends.finish(link, send));
      }
    }
  }

  private static int seedOf(int round, int buffer) {
    return round * 8 + buffer;
  }

  @Test
  void unmatchedTagWouldBlockAndConsumesNothing() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long to = ends.memory(100);
      long handle = link.receiver().registerMemory(to, 100, 1);
      long from = ends.memory(100);
      long fromHandle = link.sender().registerMemory(from, 100, 1);
      long receive = ends.receive(link, to, 100, 5, handle);
      for (int i = 0; i < 1000; i++) {
        assertEquals(0, link.sender().isend(from, 100, 6, fromHandle));
        Ends.progress(link);
      }
      Ends.finish(link, Ends.send(link, from, 100, 5, fromHandle));
      Ends.finish(link, receive);
    }
  }

  @Test
  void idleSenderSeesAReceiveByIsendAlone() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long to = ends.memory(100);
      long handle = link.receiver().registerMemory(to, 100, 1);
      long from = ends.memory(100);
      long fromHandle = link.sender().registerMemory(from, 100, 1);
      long receive = ends.receive(link, to, 100, 5, handle);
      long[] send = new long[1];
      Ends.await(
          "clear to send", () -> (send[0] = link.sender().isend(from, 100, 5, fromHandle)) != 0);
      Ends.finish(link, send[0]);
      Ends.finish(link, receive);
    }
  }

  @Test
  void manyConnectionsBothDirectionsOfSizesAndRoomsAtRandom() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    try (Ends ends = ends()) {
      List<Ends.Link> links = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        links.add(ends.connect());
      }
      for (int round = 0; round < 40; round++) {
        int length = (int) Math.pow(2, random.nextDouble() * 20);
        ends.exchange(
            links.get(random.nextInt(links.size())), length, length + random.nextInt(500), round);
      }
      links.forEach(Ends.Link::close);
    } catch (AssertionError failure) {
      throw new AssertionError("seed " + seed, failure);
    }
  }

  @Test
  void peersWithDifferentPlanesUseTheCommonOnesAndReportTheRest() {
    try (Ends ends = ends(List.of(1, 2, 3), List.of(2, 3, 4), Map.of());
        Ends.Link link = ends.connect()) {
      ends.exchange(link, 3_000_000, 3_000_000, 5);
      String line =
          ends.log.stream().filter(each -> each.contains("left out")).findFirst().orElseThrow();
      assertTrue(line.contains("plane:1") && line.contains("plane:4"), line);
      List<String> used =
          StatsReader.read(ends.left.statsFile()).stream()
              .map(ProcessStats.Row::planeKey)
              .distinct()
              .toList();
      assertEquals(List.of("plane:2", "plane:3"), used);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1"})
  void severalQueuePairsPerPlaneCarryMessagesOfAllSizes(String split) {
    Map<String, String> more =
        Map.of("NCCL_IB_QPS_PER_CONNECTION", "3", "NCCL_IB_SPLIT_DATA_ON_QPS", split);
    try (Ends ends = ends(FOUR, FOUR, more)) {
      int before = queuePairs(ends);
      try (Ends.Link link = ends.connect()) {
        assertEquals(2 * 3 * 4, queuePairs(ends) - before);
        for (int length : List.of(0, 1, 5000, 61_441, 3_000_000)) {
          for (int round = 0; round < 4; round++) {
            ends.exchange(link, length, length + round, round);
          }
        }
      }
    }
  }

  private static int queuePairs(Ends ends) {
    return java.util.stream.Stream.of(ends.left, ends.right)
        .flatMap(transport -> transport.openObjects().entrySet().stream())
        .filter(entry ->
            entry
                .getKey()
                .replace(" ", "")
                .toLowerCase(java.util.Locale.ROOT)
                .contains("queuepair"))
        .mapToInt(Map.Entry::getValue)
        .sum();
  }

  @Test
  void peersWithoutACommonPlaneFailOnBothSidesWithAllKeys() {
    try (Ends ends = ends(List.of(1, 2), List.of(3), Map.of())) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      HeddleException left =
          assertThrows(
              HeddleException.class,
              () -> Ends.await("failure", () -> ends.left.connect(0, -1, handle) != null));
      HeddleException right =
          assertThrows(
              HeddleException.class,
              () -> Ends.await("failure", () -> ends.right.accept(listener) != null));
      for (HeddleException each : List.of(left, right)) {
        for (String key : List.of("plane:1", "plane:2", "plane:3")) {
          assertTrue(each.getMessage().contains(key), each.getMessage());
        }
      }
      listener.close();
    }
  }

  @Test
  void bytesFollowTheWeightsAndAreReadableFromOutside() {
    try (Ends ends = ends(FOUR, FOUR, Map.of("HEDDLE_WEIGHTS", "4,2,1,1"));
        Ends.Link link = ends.connect()) {
      long from = ends.memory(1 << 20);
      long to = ends.memory(1 << 20);
      long handle = link.receiver().registerMemory(to, 1 << 20, 1);
      long fromHandle = link.sender().registerMemory(from, 1 << 20, 1);
      for (int i = 0; i < 60; i++) {
        long receive = ends.receive(link, to, 1 << 20, 1, handle);
        Ends.finish(link, Ends.send(link, from, 1 << 20, 1, fromHandle));
        Ends.finish(link, receive);
      }
      Path file = ends.left.statsFile();
      long total = 60L << 20;
      long sum = 0;
      for (ProcessStats.Row row : StatsReader.read(file)) {
        assertEquals(StatsFile.Direction.SEND, row.direction());
        double share = (double) row.bytes() / total;
        assertEquals(row.weight() / 8.0, share, 0.03 * row.weight() / 8.0, row.toString());
        sum += row.bytes();
      }
      assertEquals(total, sum);
    }
  }

  @Test
  void warmUpIsNotCountedAndLeavesNothingOpen() {
    try (Ends ends = ends()) {
      /*
       * A warm-up gives up if its connection or one message takes more than a second, as may happen
       * on a busy host.
       */
      for (int tries = 0; tries < 20 && ends.log.stream().noneMatch(this::isWarmUpLine); tries++) {
        ends.left.warmUp(200_000_000);
      }
      assertTrue(
          ends.line("warmed up with")
              .matches(".*with [1-9][0-9]* messages and 2 simulated plane failures"));
      assertEquals(List.of(), StatsReader.read(ends.left.statsFile()));
      assertTrue(ends.log.stream().noneMatch(line -> line.startsWith("WARN")), () -> "" + ends.log);
      ends.connect().close();
    }
  }

  private boolean isWarmUpLine(String line) {
    return line.contains("warmed up with");
  }

  @Test
  void innerRegistrationOutlivesTheOuterOne() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long base = ends.memory(1 << 20);
      long global = link.sender().registerMemory(base, 1 << 20, 1);
      long inside = link.sender().registerMemory(base + 4096, 4096, 1);
      assertEquals(0, link.sender().deregisterMemory(global));
      long to = ends.memory(4096);
      long toHandle = link.receiver().registerMemory(to, 4096, 1);
      long receive = ends.receive(link, to, 4096, 1, toHandle);
      Ends.finish(link, Ends.send(link, base + 4096, 4096, 1, inside));
      Ends.finish(link, receive);
      assertEquals(0, link.sender().deregisterMemory(inside));
      assertEquals(TransportResult.INVALID_ARGUMENT, link.sender().deregisterMemory(inside));
    }
  }

  @Test
  void connectionsOfOneDeviceRunInThreadsOfTheirOwnWhileMemoryIsRegistered() throws Exception {
    try (Ends ends = ends();
        Ends.Link first = ends.connect();
        Ends.Link second = ends.connect();
        ExecutorService threads = Executors.newFixedThreadPool(3)) {
      AtomicBoolean over = new AtomicBoolean();
      Future<?> registering =
          threads.submit(() -> {
            long base = ends.memory(1 << 20);
            List<Long> handles = new ArrayList<>();
            do {
              /* 200 handles: the table grows while others read it. */
              for (int i = 0; i < 200; i++) {
                handles.add(first.sender().registerMemory(base + i * 4096L, 4096, 1));
              }
              for (long handle : handles) {
                assertEquals(0, first.sender().deregisterMemory(handle));
              }
              handles.clear();
            } while (!over.get());
          });
      List<Future<?>> traffic = new ArrayList<>();
      for (Ends.Link link : List.of(first, second)) {
        traffic.add(threads.submit(() -> ends.traffic(link, 150, 200_000)));
      }
      for (Future<?> each : traffic) {
        Deadline.ofSeconds(20).get(each);
      }
      over.set(true);
      Deadline.ofSeconds(20).get(registering);
    }
  }

  @Test
  void callsWithWrongArgumentsAreRefusedWithoutEffect() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      long to = ends.memory(64);
      assertEquals(
          -TransportResult.INVALID_USAGE, link.sender().registerMemory(to, 64, 2), "GPU memory");
      assertEquals(-TransportResult.INVALID_ARGUMENT, link.sender().registerMemory(to, 0, 1));
      assertEquals(
          -TransportResult.INVALID_ARGUMENT, ends.receive(link, to, 64, 1, 4711), "no such handle");
      assertEquals(-TransportResult.INVALID_ARGUMENT, link.receiver().irecv(9, to, to, to, to));
      assertEquals(-TransportResult.INVALID_ARGUMENT, link.receiver().irecv(0, to, to, to, to));
      assertThrows(HeddleException.class, () -> ends.left.listen(1, ends.handle()));
      assertThrows(
          HeddleException.class, () -> ends.left.connect(0, -1, ends.handle()), "an empty handle");
      ends.exchange(link, 5000, 5000, 9);
    }
  }
}
