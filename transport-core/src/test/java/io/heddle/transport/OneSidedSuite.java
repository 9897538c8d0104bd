package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of a group of ranks on any device. */
abstract class OneSidedSuite extends OneSidedMemorySuite {
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

  /* The group must fail: a GPU kernel may wait for a word that gets no further signal. */
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
}
