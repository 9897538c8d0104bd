package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.transport.data.Baton;
import io.heddle.transport.device.TransportResult;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.OneSidedOperation;
import io.heddle.transport.onesided.OneSidedOperation.Signal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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

/** Tests of the registered memory of a group of ranks, on any device. */
abstract class OneSidedMemorySuite {
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
      adding.spinUntilTaken();
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

  static OneSidedOperation word() {
    return OneSidedRanks.signal(OneSidedRanks.put(0, 0), Signal.WEAK, WORD, 1);
  }
}
