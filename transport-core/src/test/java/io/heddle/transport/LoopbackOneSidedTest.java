package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.TransportResult;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.OneSidedOperation;
import io.heddle.transport.onesided.OneSidedOperation.Signal;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.testing.LoopbackFabric;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of groups over an in-memory network, whose planes can be cut anywhere. */
class LoopbackOneSidedTest extends OneSidedSuite {
  private static final int PIECE = 20_000;
  private static final int PLACES = 64;

  private final long seed = System.nanoTime();
  private final LoopbackFabric fabric = new LoopbackFabric(seed);

  @Override
  Ends ends(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(LoopbackFailoverTest.QUICK);
    all.putAll(more);
    return new Ends(fabric, folder, FOUR, FOUR, all);
  }

  @ParameterizedTest
  @CsvSource({"spray", "pinned", "least-in-flight", "spraylink", "hash"})
  void putWithoutACarryingPlaneWaitsForOne(String policy) {
    int length = 3_000_001;
    try (Ends ends = ends(Map.of("HEDDLE_POLICY", policy, "HEDDLE_GRACE_MS", "60000"));
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, DATA + length, arena)) {
      OneSidedOperation first = OneSidedRanks.put(8, DATA);
      ranks.finish(ranks.start(0, 1, DATA, first));
      FOUR.forEach(plane -> fabric.cut(Ends.gid("127.0.77." + plane)));
      Ends.fill(ranks.memory.get(0) + DATA, length, 5);
      long before = ranks.start(0, 1, DATA, OneSidedRanks.put(length, DATA));
      Communicator puts = ranks.groups.get(0).communicators().getFirst();
      Ends.await(
          "the end of all planes",
          () -> {
            ranks.progress();
            return FOUR.stream().allMatch(plane -> puts.isOutOfUse(plane - 1));
          });
      OneSidedOperation put = OneSidedRanks.put(length, DATA);
      long request = ranks.start(0, 1, DATA, OneSidedRanks.signal(put, Signal.STRONG, WORD, 1));
      ranks.progress();
      FOUR.forEach(plane -> fabric.reconnect(Ends.gid("127.0.77." + plane)));
      ranks.finish(before);
      ranks.finish(request);
      ranks.awaitWord(1, WORD, 1);
      Ends.check(ranks.memory.get(1) + DATA, length, 5);
    }
  }

  /* Each context has a word that counts its puts. A put's last bytes are its number. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void planeFailuresLoseAndDuplicateNoSignal(boolean onDevices) {
    Random random = new Random(seed);
    long bytes = DATA + (16L << 20);
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks =
            onDevices
                ? OneSidedRanks.onDevices(ends, 2, bytes, arena)
                : new OneSidedRanks(ends, 2, bytes, arena)) {
      ArrayDeque<Long> requests = new ArrayDeque<>();
      int contexts = 4;
      long[] sent = new long[contexts];
      for (int cut = 0; cut < 6 || !isFailoverSeen(ends); cut++) {
        String plane = "127.0." + (77 + random.nextInt(2)) + "." + (1 + random.nextInt(4));
        for (int i = 0; i < 120; i++) {
          if (i == 40) {
            fabric.cut(Ends.gid(plane));
          } else if (i == 80) {
            fabric.reconnect(Ends.gid(plane));
          }
          int context = random.nextInt(contexts);
          long number = ++sent[context];
          long at = DATA + (context * PLACES + number % PLACES) * 65_536L;
          Memory.setLong(ranks.memory.get(0) + at + PIECE - 8, number);
          OneSidedOperation put = OneSidedRanks.put(PIECE, at);
          put.context = context;
          requests.add(
              ranks.start(0, 1, at, OneSidedRanks.signal(put, Signal.STRONG, context * 8L, 1)));
          checkPuts(ranks, contexts);
          while (requests.size() > PLACES / 2) {
            ranks.finish(requests.remove());
          }
        }
      }
      while (!requests.isEmpty()) {
        ranks.finish(requests.remove());
      }
      for (int context = 0; context < contexts; context++) {
        ranks.awaitWord(1, context * 8L, sent[context]);
      }
      for (int i = 0; i < 100; i++) {
        checkPuts(ranks, contexts);
      }
      for (int context = 0; context < contexts; context++) {
        assertEquals(sent[context], ranks.word(1, context * 8L), "seed " + seed);
      }
    }
  }

  /* In device memory, adapters' writes arrive late and in any order, unless a read pushes them. */
  @ParameterizedTest
  @CsvSource({
    "STRONG, true",
    "STRONG, false",
    "WEAK, true",
    "WEAK, false",
  })
  void signalsFollowTheirDataInDeviceMemory(Signal how, boolean wordsOnDevice) {
    int length = 5_000;
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = OneSidedRanks.onDevices(ends, 2, DATA + (1L << 20), arena)) {
      List<Long> words = new ArrayList<>();
      for (OneSidedGroup group : ranks.groups) {
        long word = Memory.allocate(arena, 64, 64);
        words.add(word);
        assertEquals(
            1,
            wordsOnDevice ? group.registerDmaBuf(word, 64, 2, 0, 0) : group.register(word, 64, 1));
      }
      for (int i = 1; i <= 300; i++) {
        Ends.fill(ranks.memory.get(0) + DATA, length, i);
        OneSidedOperation put =
            OneSidedRanks.signal(OneSidedRanks.put(length, DATA), how, 8 * (i % 3), i);
        put.signalRegistration = 1;
        long before = Memory.getLongAcquire(words.get(1) + 8 * (i % 3));
        long wanted = before + i;
        long word = words.get(1) + 8 * (i % 3);
        long request = ranks.start(0, 1, DATA, put);
        Ends.await(
            "a signal",
            () -> {
              ranks.progress();
              return Memory.getLongAcquire(word) == wanted;
            });
        Ends.check(ranks.memory.get(1) + DATA, length, i);
        ranks.finish(request);
      }
    }
  }

  /* Several peers add to one word; each addition is a read and a write. */
  @Test
  void noAdditionToADeviceWordIsLost() {
    int peers = 6;
    int each = 150;
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = OneSidedRanks.onDevices(ends, peers, DATA, arena)) {
      ArrayDeque<Long> requests = new ArrayDeque<>();
      for (int i = 0; i < each; i++) {
        for (int from = 1; from < peers; from++) {
          Signal how = i % 2 == 0 ? Signal.STRONG : Signal.WEAK;
          OneSidedOperation word =
              OneSidedRanks.signal(OneSidedRanks.put(0, 0), how, 8L * (i % 2), 1);
          word.context = i % 5;
          requests.add(ranks.start(from, 0, 0, word));
        }
      }
      requests.forEach(ranks::finish);
      ranks.awaitWord(0, 0, (peers - 1) * each / 2);
      ranks.awaitWord(0, 8, (peers - 1) * each / 2);
      assertEquals(TransportResult.SUCCESS, ranks.groups.get(0).deregister(0));
    }
  }

  /* Bytes without a signal have arrived in device memory, and nothing has flushed them. */
  @Test
  void deregisteredDeviceMemoryIsFlushedNoMore() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = OneSidedRanks.onDevices(ends, 2, DATA, arena)) {
      for (OneSidedGroup group : ranks.groups) {
        assertEquals(1, group.registerDmaBuf(Memory.allocate(arena, 64, 64), 64, 2, 0, 0));
      }
      OneSidedOperation put = OneSidedRanks.put(8, 0);
      put.registration = 1;
      ranks.finish(ranks.start(0, 1, DATA - 64, put));
      for (int i = 0; i < 20; i++) {
        ranks.progress();
      }
      assertEquals(TransportResult.SUCCESS, ranks.groups.get(1).deregister(1));
      OneSidedOperation word =
          OneSidedRanks.signal(OneSidedRanks.put(0, 0), Signal.STRONG, WORD, 1);
      ranks.finish(ranks.start(0, 1, 0, word));
      ranks.awaitWord(1, WORD, 1);
    }
  }

  /*
   * The test holds the connection's baton, as the control thread does in a failover. Before that, a
   * plane returns at an address where the device refuses a queue pair.
   */
  @Test
  void deviceAdditionsDoNotBlockAndSurviveARefusedPlane() {
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = OneSidedRanks.onDevices(ends, 2, DATA, arena)) {
      OneSidedOperation word =
          OneSidedRanks.signal(OneSidedRanks.put(0, 0), Signal.STRONG, WORD, 1);
      ranks.finish(ranks.start(0, 1, 0, word));
      ranks.awaitWord(1, WORD, 1);
      Communicator signals = ranks.groups.get(1).communicators().getFirst();
      signals.planeReturned(
          new LocalPlane("gone", "gone", Ends.gid("127.0.99.9"), 8, PathMtu.MTU_4096, "lo"));
      ranks.finish(ranks.start(0, 1, 0, word));
      Ends.await("the baton", signals.baton()::tryTake);
      for (int i = 0; i < 200; i++) {
        ranks.progress();
      }
      signals.baton().release();
      ranks.awaitWord(1, WORD, 2);
      assertTrue(
          ends.log.stream()
              .anyMatch(
                  line -> line.contains("plane gone carries traffic, but not to signal words")),
          ends.log::toString);
    }
  }

  @Test
  void fetchedDataIsVisibleAfterItsFlush() {
    int length = 70_000;
    try (Ends ends = ends(Map.of());
        OneSidedRanks ranks = OneSidedRanks.onDevices(ends, 2, DATA + length, arena)) {
      for (int i = 0; i < 20; i++) {
        Ends.fill(ranks.memory.get(1) + DATA, length, i);
        OneSidedOperation get = OneSidedRanks.put(length, DATA);
        get.get = true;
        ranks.finish(ranks.start(0, 1, DATA, get));
        long flush = ranks.groups.get(0).flush(1, 0);
        assertTrue(flush > 0, "nothing to wait for");
        ranks.finish(flush);
        Ends.check(ranks.memory.get(0) + DATA, length, i);
      }
    }
  }

  private static boolean isFailoverSeen(Ends ends) {
    return ends.log.stream().anyMatch(line -> line.contains("moving off"));
  }

  private void checkPuts(OneSidedRanks ranks, int contexts) {
    ranks.progress();
    for (int context = 0; context < contexts; context++) {
      long seen = ranks.word(1, context * 8L);
      if (seen > 0) {
        long at = DATA + (context * PLACES + seen % PLACES) * 65_536L;
        long there = Memory.getLong(ranks.memory.get(1) + at + PIECE - 8);
        /* The number of a later put may have arrived already. */
        assertEquals(0, (there - seen) % PLACES, "seed " + seed);
        assertEquals(true, there >= seen, "seed " + seed + ": " + there + " behind " + seen);
      }
    }
  }
}
