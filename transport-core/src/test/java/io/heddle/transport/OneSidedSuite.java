package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.stats.OneSidedCounts;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import io.heddle.transport.connection.Connection;
import io.heddle.transport.data.Baton;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.device.TransportResult;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.OneSidedOperation;
import io.heddle.transport.onesided.OneSidedOperation.Signal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of a group of ranks on any device. */
abstract class OneSidedSuite {
  static final List<Integer> FOUR = List.of(1, 2, 3, 4);
  static final long WORD = 0;
  static final long DATA = 4096;

  final Arena arena = Arena.ofShared();

  @TempDir Path folder;

  abstract Ends ends(Map<String, String> more);

  @AfterEach
  void free() {
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 4095, 4096, 100_000, 3_000_001})
  void putWithSignalDeliversItsBytesThenItsSignal(int length) {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + (8L << 20), arena)) {
      Ends.fill(ranks.memory.get(0) + DATA, length, 5);
      for (Signal how : List.of(Signal.STRONG, Signal.WEAK)) {
        long before = ranks.word(1, WORD);
        OneSidedOperation put = OneSidedRanks.put(length, DATA);
        long request = ranks.start(0, 1, DATA, OneSidedRanks.signal(put, how, WORD, 7));
        ranks.finish(request);
        ranks.awaitWord(1, WORD, before + 7);
        Ends.check(ranks.memory.get(1) + DATA, length, 5);
      }
    }
  }

  @Test
  void strongSignalFollowsAllEarlierPutsOfItsContext() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + (8L << 20), arena)) {
      ArrayDeque<Long> requests = new ArrayDeque<>();
      int length = 50_000;
      for (int round = 1; round <= 600; round++) {
        long at = DATA + (round % 100) * 65_536L;
        Memory.setLong(ranks.memory.get(0) + at + length - 8, round);
        requests.add(ranks.start(0, 1, at, OneSidedRanks.put(length, at)));
        OneSidedOperation word = OneSidedRanks.put(0, 0);
        requests.add(ranks.start(0, 1, 0, OneSidedRanks.signal(word, Signal.STRONG, WORD, 1)));
        if (round % 100 == 0) {
          long wanted = round;
          Ends.await(
              "the words of a hundred puts",
              () -> {
                ranks.progress();
                long seen = ranks.word(1, WORD);
                if (seen > wanted - 100) {
                  long last = DATA + (seen % 100) * 65_536L;
                  assertEquals(
                      seen, Memory.getLong(ranks.memory.get(1) + last + length - 8), "data behind");
                }
                return seen == wanted;
              });
          while (!requests.isEmpty()) {
            ranks.finish(requests.remove());
          }
        }
      }
    }
  }

  @Test
  void getFetchesTheOtherRanksData() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + (4L << 20), arena)) {
      int length = 2_000_003;
      Ends.fill(ranks.memory.get(1) + DATA, length, 9);
      OneSidedOperation get = OneSidedRanks.put(length, DATA);
      get.get = true;
      ranks.finish(ranks.start(0, 1, DATA, get));
      Ends.check(ranks.memory.get(0) + DATA, length, 9);
    }
  }

  @Test
  void rankCanWriteToItself() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + (1L << 20), arena)) {
      Ends.fill(ranks.memory.get(0) + DATA, 1000, 3);
      OneSidedOperation put = OneSidedRanks.put(1000, DATA + 2000);
      ranks.finish(ranks.start(0, 0, DATA, OneSidedRanks.signal(put, Signal.STRONG, WORD, 1)));
      ranks.awaitWord(0, WORD, 1);
      Ends.check(ranks.memory.get(0) + DATA + 2000, 1000, 3);
    }
  }

  /* The group must fail: a GPU kernel may wait for a word that nobody will signal any more. */
  @Test
  void lostPeerEndsAnIdleGroup() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      OneSidedOperation word = OneSidedRanks.put(0, 0);
      ranks.finish(ranks.start(1, 0, 0, OneSidedRanks.signal(word, Signal.WEAK, WORD, 1)));
      ranks.awaitWord(0, WORD, 1);
      assertFalse(ranks.groups.get(0).hasFailed());
      ends.left.devices().stream()
          .flatMap(device -> device.connections().stream())
          .map(Connection.class::cast)
          .forEach(each -> each.health().peerGone(ConnectionHealth.Peer.LOST, "its process ended"));
      Ends.await(
          "end of the group", () -> ranks.groups.get(0).progress() == TransportResult.REMOTE_ERROR);
      assertTrue(ranks.groups.get(0).hasFailed());
      assertEquals(
          -TransportResult.REMOTE_ERROR,
          ranks.groups.get(0).start(1, 0, 0, OneSidedRanks.put(8, 64)));
    }
  }

  private static List<Connection> connections(Transport transport) {
    return transport.devices().stream()
        .flatMap(device -> device.connections().stream())
        .map(Connection.class::cast)
        .toList();
  }

  private static OneSidedOperation word() {
    return OneSidedRanks.signal(OneSidedRanks.put(0, 0), Signal.WEAK, WORD, 1);
  }

  /* The connection was made, and this end has not polled since. */
  @Test
  void groupClosedBeforeItsConnectionNotifiesItsPeer() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      ranks.start(0, 1, 0, word());
      Ends.await(
          "the other end",
          () -> {
            assertEquals(0, ranks.groups.get(1).progress());
            return !ranks.groups.get(1).communicators().isEmpty();
          });
      ranks.close(0);
      Connection left = connections(ends.right).getFirst();
      Ends.await(
          "a goodbye",
          () -> {
            ranks.progress();
            return left.health().peer() == ConnectionHealth.Peer.CLOSED;
          });
      ranks.close(1);
      Ends.await("the end of the connection", () -> connections(ends.left).isEmpty());
    }
  }

  /* The other end has finished its handshake; its last message is still in flight. */
  @Test
  void groupClosedDuringItsHandshakeNotifiesItsPeer() {
    List<StuckChannelRelay> relays = new ArrayList<>();
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks =
            new OneSidedRanks(ends, 2, DATA, arena, handle -> relays.add(relayOf(handle)));
        StuckChannelRelay relay = relays.getFirst()) {
      ranks.start(0, 1, 0, word());
      Ends.await(
          "the other end",
          () -> {
            assertEquals(0, ranks.groups.get(1).progress());
            return !ranks.groups.get(1).communicators().isEmpty();
          });
      ranks.close(0);
      Ends.await(
          "the end of the group",
          () -> connections(ends.left).stream().allMatch(each -> each.health().isLeaving()));
      relay.releaseReady();
      Connection there = connections(ends.right).getFirst();
      Ends.await(
          "a goodbye",
          () -> {
            ranks.progress();
            return there.health().peer() == ConnectionHealth.Peer.CLOSED;
          });
      ranks.close(1);
      Ends.await("the end of the connection", () -> connections(ends.left).isEmpty());
    }
  }

  private static StuckChannelRelay relayOf(long handle) {
    try {
      return StuckChannelRelay.inFrontOf(handle).withReadyHeld();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /*
   * Connects of another group are queued first; the control thread is blocked until the closed
   * group is gone.
   */
  @Test
  void queuedCallsOfAClosedGroupAreDropped() {
    int count = 80;
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, count, DATA, arena)) {
      ranks.finish(ranks.start(2, 1, 0, word()));
      CountDownLatch closed = new CountDownLatch(1);
      Ends.session(connections(ends.left).getFirst())
          .execute(() -> {
            try {
              closed.await();
            } catch (InterruptedException ended) {
              Thread.currentThread().interrupt();
            }
          });
      List<Long> requests = new ArrayList<>();
      for (int target = 1; target < count; target += 2) {
        requests.add(ranks.start(2, target, 0, word()));
      }
      for (int target = 1; target < count; target += 2) {
        ranks.start(0, target, 0, word());
      }
      ranks.close(0);
      closed.countDown();
      requests.forEach(ranks::finish);
      for (int rank = 0; rank < count; rank++) {
        ranks.close(rank);
      }
      Ends.await(
          "the end of all connections",
          () -> connections(ends.left).isEmpty() && connections(ends.right).isEmpty());
    }
  }

  /*
   * The sender has finished, and the target hasn't polled since. The host may synchronise both
   * ranks by its own means.
   */
  @Test
  void completedSignalIsAddedBeforeItsMemoryIsDeregistered() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      ranks.finish(ranks.start(0, 1, 0, word()));
      ranks.awaitWord(1, WORD, 1);
      long request = ranks.start(0, 1, 0, word());
      Ends.await(
          "completion of a signal for which its target doesn't poll",
          () -> {
            assertEquals(0, ranks.groups.get(0).progress(), ends.log::toString);
            return Memory.getIntAcquire(request) == 1;
          });
      assertEquals(TransportResult.SUCCESS, ranks.groups.get(1).deregister(0));
      assertEquals(2, ranks.word(1, WORD));
      assertEquals(TransportResult.SUCCESS, ranks.groups.get(1).progress(), ends.log::toString);
    }
  }

  /* Another group has the same memory, and a thread drives both devices. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void noByteLandsInDeregisteredMemory(boolean closes) throws Exception {
    Ends.repeatUntilInterrupted(() -> isMemoryTakenBackInMidPut(closes));
  }

  /* Returns false if all of the put arrived before its memory was taken back, on a busy machine. */
  private boolean isMemoryTakenBackInMidPut(boolean closes) throws Exception {
    int bytes = 64 << 20;
    boolean midPut;
    try (Ends ends = ends(Map.of());
        OneSidedRanks others = new OneSidedRanks(ends, 2, DATA, arena);
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, bytes, arena);
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      OneSidedGroup target = ranks.groups.get(1);
      long to = ranks.memory.get(1);
      assertEquals(1, others.groups.get(1).register(to, bytes, 1));
      Memory.ALL.asSlice(ranks.memory.get(0), bytes).fill((byte) 1);
      long request = ranks.start(0, 1, 0, OneSidedRanks.put(bytes, 0));
      AtomicBoolean over = new AtomicBoolean();
      Future<?> moving =
          threads.submit(() -> {
            while (!over.get()) {
              ranks.groups.get(0).progress();
              others.groups.get(1).progress();
            }
          });
      try {
        Ends.await(
            "the first byte",
            () -> {
              assertEquals(0, target.progress(), ends.log::toString);
              return Memory.getLong(to) != 0;
            });
        if (closes) {
          ranks.close(1);
        } else {
          assertEquals(TransportResult.SUCCESS, target.deregister(0));
        }
        MemorySegment there = Memory.ALL.asSlice(to, bytes);
        there.fill((byte) 2);
        Ends.await("the end of the put", () -> Memory.getIntAcquire(request) != 0);
        midPut = Memory.getIntAcquire(request) < 0;
        if (midPut) {
          assertEquals(-TransportResult.REMOTE_ERROR, Memory.getIntAcquire(request));
        }
        MemorySegment expected = arena.allocate(bytes).fill((byte) 2);
        assertEquals(-1, there.mismatch(expected), "the first byte that was overwritten");
      } finally {
        over.set(true);
        Deadline.ofSeconds(20).get(moving);
      }
      others.finish(others.start(0, 1, 0, word()));
    }
    return midPut;
  }

  /* The control thread adds signals, too, when it takes a plane's last completions. */
  @Test
  void memoryIsDeregisteredOnlyWhileNoSignalIsAdded() throws Exception {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena);
        ExecutorService threads = Executors.newSingleThreadExecutor()) {
      ranks.finish(ranks.start(0, 1, 0, word()));
      OneSidedGroup target = ranks.groups.get(1);
      Baton adding = target.communicators().getFirst().baton();
      while (!adding.tryTake()) {
        Thread.onSpinWait();
      }
      Future<Integer> taken = threads.submit(() -> target.deregister(0));
      try {
        assertThrows(TimeoutException.class, () -> taken.get(100, TimeUnit.MILLISECONDS));
      } finally {
        adding.release();
      }
      assertEquals(TransportResult.SUCCESS, Deadline.ofSeconds(20).get(taken));
    }
  }

  @Test
  void closedGroupRefusesEveryCall() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      ranks.finish(ranks.start(0, 1, 0, word()));
      ranks.close(0);
      OneSidedGroup closed = ranks.groups.get(0);
      assertEquals(-TransportResult.INVALID_USAGE, closed.start(1, 0, 0, word()));
      assertEquals(-TransportResult.INVALID_USAGE, closed.start(1, 0, 0, OneSidedRanks.put(0, 0)));
      assertEquals(TransportResult.INVALID_USAGE, closed.progress());
      assertEquals(-TransportResult.INVALID_USAGE, closed.flush(1, 0));
      closed.close();
    }
  }

  private static int queuePairs(OneSidedRanks ranks) {
    return ranks.groups.stream()
        .flatMap(group -> group.communicators().stream())
        .mapToInt(end -> end.flows().length)
        .sum();
  }

  /*
   * With n ranks a group has n² pairs of ranks. Only a pair in use takes a queue pair per plane at
   * both ends.
   */
  @Test
  void peerTakesQueuePairsOnlyAfterTheFirstWrite() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 32, DATA, arena)) {
      assertEquals(0, queuePairs(ranks));
      for (int target : new int[] {1, 9, 1, 30}) {
        OneSidedOperation word = OneSidedRanks.put(0, 0);
        ranks.finish(ranks.start(0, target, 0, OneSidedRanks.signal(word, Signal.WEAK, WORD, 1)));
      }
      assertEquals(2 * FOUR.size() * 3, queuePairs(ranks));
    }
  }

  /*
   * Another thread holds the connection, as the control thread does while it leaves a plane,
   * perhaps for long.
   */
  @Test
  @EndsWithin(120)
  void noCallBlocksWhileAnotherThreadHoldsTheConnection() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + 1000, arena)) {
      ranks.finish(ranks.start(0, 1, 0, word()));
      Ends.fill(ranks.memory.get(0) + DATA, 1000, 5);
      Baton baton = ranks.groups.get(0).communicators().getFirst().baton();
      Ends.await("the baton", baton::tryTake);
      List<Long> requests = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        OneSidedOperation put = OneSidedRanks.put(1000, DATA);
        requests.add(ranks.start(0, 1, DATA, OneSidedRanks.signal(put, Signal.STRONG, WORD, 1)));
        assertEquals(0, ranks.groups.get(0).flush(1, 0));
        ranks.progress();
      }
      baton.release();
      requests.forEach(ranks::finish);
      ranks.awaitWord(1, WORD, 4);
      Ends.check(ranks.memory.get(1) + DATA, 1000, 5);
      assertEquals(new OneSidedCounts(4, 4, 0, 0, 3), counts(ends.left));
    }
  }

  /* A put that waits for room is accepted; the caller needn't retry. */
  @Test
  void aFullWindowIsNoCallThatWouldBlock() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      List<Long> requests = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        requests.add(ranks.start(0, 1, 0, word()));
      }
      requests.forEach(ranks::finish);
      ranks.awaitWord(1, WORD, 600);
      for (ProcessStats.Row row : StatsReader.read(ends.left.statsFile())) {
        assertEquals(0, row.wouldBlock(), row.planeKey());
      }
    }
  }

  @Test
  void statisticsCountPutsSignalsGetsAndFlushes() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + (1L << 20), arena)) {
      for (int i = 0; i < 3; i++) {
        ranks.finish(ranks.start(0, 1, DATA, OneSidedRanks.put(1000, DATA)));
        OneSidedOperation put = OneSidedRanks.put(500_000, DATA);
        ranks.finish(ranks.start(0, 1, DATA, OneSidedRanks.signal(put, Signal.STRONG, WORD, 1)));
      }
      OneSidedOperation get = OneSidedRanks.put(700_000, DATA);
      get.get = true;
      ranks.finish(ranks.start(0, 1, DATA, get));
      assertEquals(0, ranks.groups.get(0).flush(1, 0));
      assertEquals(-TransportResult.INVALID_ARGUMENT, ranks.groups.get(0).flush(2, 0));
      ranks.awaitWord(1, WORD, 3);
      assertEquals(new OneSidedCounts(6, 3, 1, 700_000, 1), counts(ends.left));
      assertEquals(new OneSidedCounts(6, 3, 0, 0, 0), counts(ends.right));
      assertEquals(3 * 501_000, bytes(ends.left));
      assertEquals(3 * 501_000, bytes(ends.right));
      for (ProcessStats.Row row : StatsReader.read(ends.left.statsFile())) {
        assertEquals(0, row.inFlightBytes(), row.planeKey());
        assertTrue(row.oneSided().getBytes() > 0, row.planeKey() + " has brought nothing");
      }
    }
  }

  private static long bytes(Transport transport) {
    return StatsReader.read(transport.statsFile()).stream()
        .mapToLong(ProcessStats.Row::bytes)
        .sum();
  }

  private static OneSidedCounts counts(Transport transport) {
    return StatsReader.read(transport.statsFile()).stream()
        .map(ProcessStats.Row::oneSided)
        .reduce(new OneSidedCounts(0, 0, 0, 0, 0), OneSidedCounts::plus);
  }

  @Test
  void aPutWaitsUntilItsMemoryIsRegisteredThere() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + 64, arena)) {
      assertEquals(1, ranks.groups.get(0).register(ranks.memory.get(0) + DATA, 64, 1));
      Ends.fill(ranks.memory.get(0) + 64, 64, 5);
      OneSidedOperation put = OneSidedRanks.put(64, 0);
      put.registration = 1;
      long request = ranks.start(0, 1, 64, put);
      ranks.finish(ranks.start(1, 0, 0, word()));
      assertEquals(0, Memory.getIntAcquire(request));
      assertEquals(1, ranks.groups.get(1).register(ranks.memory.get(1) + DATA, 64, 1));
      ranks.finish(request);
      Ends.check(ranks.memory.get(1) + DATA, 64, 5);
    }
  }

  @Test
  void accessOutsideTheMemoryIsRefusedWithAReason() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      assertEquals(
          -TransportResult.INVALID_ARGUMENT,
          ranks.groups.get(0).start(2, 0, 0, OneSidedRanks.put(8, 0)));
      assertEquals(
          -TransportResult.INVALID_ARGUMENT,
          ranks.groups.get(0).start(1, 0, DATA - 4, OneSidedRanks.put(8, 0)));
      assertTrue(
          ends.log.stream().anyMatch(line -> line.contains("aren't within")), ends.log::toString);
      assertEquals(
          -TransportResult.INVALID_ARGUMENT,
          ranks.groups.get(0).start(1, 0, 0, OneSidedRanks.put((32L << 30) + 1, 0)));
      assertTrue(
          ends.log.stream().anyMatch(line -> line.contains("and the maximum is 34359738368")),
          ends.log::toString);
      /* Only the other rank knows the size of its memory. */
      long request = ranks.start(0, 1, 0, OneSidedRanks.put(8, DATA - 4));
      Ends.await(
          "refusal",
          () -> {
            ranks.progress();
            return Memory.getIntAcquire(request) == -TransportResult.INVALID_ARGUMENT;
          });
      Memory.setIntRelease(request, 2);
      assertTrue(
          ends.log.stream()
              .anyMatch(line ->
                  line.contains(
                      "8 bytes at 4092 aren't within the 4096 bytes of its registration")),
          ends.log::toString);
      OneSidedOperation word = OneSidedRanks.put(0, 0);
      long signal = ranks.start(0, 1, 0, OneSidedRanks.signal(word, Signal.WEAK, DATA, 1));
      Ends.await(
          "refusal of a signal",
          () -> {
            ranks.progress();
            return Memory.getIntAcquire(signal) == -TransportResult.INVALID_ARGUMENT;
          });
      Memory.setIntRelease(signal, 2);
      assertTrue(
          ends.log.stream().anyMatch(line -> line.contains("its signal's word at 4096 isn't")),
          ends.log::toString);
      /* The group continues. */
      ranks.finish(ranks.start(0, 1, 0, OneSidedRanks.put(8, 64)));
    }
  }
}
