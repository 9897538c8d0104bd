package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.transport.connection.Connection;
import io.heddle.transport.data.OneSidedOperation;
import io.heddle.transport.data.OneSidedOperation.Signal;
import io.heddle.transport.data.Standing;
import io.heddle.transport.device.TransportResult;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a group of ranks promises, whatever the device. */
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
  void aPutWithSignalBringsItsBytesAndThenItsWord(int length) {
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
  void aStrongSignalComesAfterAllEarlierPutsOfItsContext() {
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
  void aGetBringsWhatTheOtherRankHas() {
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
  void aRankWritesToItselfAsToAnyOther() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + (1L << 20), arena)) {
      Ends.fill(ranks.memory.get(0) + DATA, 1000, 3);
      OneSidedOperation put = OneSidedRanks.put(1000, DATA + 2000);
      ranks.finish(ranks.start(0, 0, DATA, OneSidedRanks.signal(put, Signal.STRONG, WORD, 1)));
      ranks.awaitWord(0, WORD, 1);
      Ends.check(ranks.memory.get(0) + DATA + 2000, 1000, 3);
    }
  }

  /* A kernel may wait for a word that nobody will signal any more. */
  @Test
  void aPeerThatIsLostEndsTheGroupThoughNothingIsUnderWay() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA, arena)) {
      OneSidedOperation word = OneSidedRanks.put(0, 0);
      ranks.finish(ranks.start(1, 0, 0, OneSidedRanks.signal(word, Signal.WEAK, WORD, 1)));
      ranks.awaitWord(0, WORD, 1);
      assertFalse(ranks.groups.get(0).hasFailed());
      ends.left.devices().stream()
          .flatMap(device -> device.connections().stream())
          .map(Connection.class::cast)
          .forEach(each -> each.standing().peerGone(Standing.Peer.LOST, "its process ended"));
      Ends.await(
          "end of the group", () -> ranks.groups.get(0).progress() == TransportResult.REMOTE_ERROR);
      assertTrue(ranks.groups.get(0).hasFailed());
      assertEquals(
          -TransportResult.REMOTE_ERROR,
          ranks.groups.get(0).start(1, 0, 0, OneSidedRanks.put(8, 64)));
    }
  }

  @Test
  void whatLiesOutsideTheMemoryIsRefusedByName() {
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
      /* The other rank's size is known only there. */
      long request = ranks.start(0, 1, 0, OneSidedRanks.put(8, DATA - 4));
      Ends.await(
          "refusal",
          () -> {
            ranks.progress();
            return Memory.getIntAcquire(request) == -TransportResult.INVALID_ARGUMENT;
          });
      Memory.setIntRelease(request, 2);
      /* The group goes on. */
      ranks.finish(ranks.start(0, 1, 0, OneSidedRanks.put(8, 64)));
    }
  }
}
