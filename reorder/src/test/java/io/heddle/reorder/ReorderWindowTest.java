package io.heddle.reorder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReorderWindowTest {
  private final ReorderWindow window = new ReorderWindow(256);

  @Test
  void completesInOrderWhenPlaneTwoIsLate() {
    int first = window.open(1);
    int second = window.open(1);
    assertEquals(ReorderWindow.ACCEPTED, window.record(first, 0, 0, 0, 2, 100));
    assertEquals(ReorderWindow.GROUP_FULL, window.record(second, 0, 0, 0, 1, 50));
    assertFalse(window.isFull(0), "the oldest still misses a chunk");
    assertTrue(window.isFull(1));
    assertEquals(ReorderWindow.GROUP_FULL, window.record(first, 0, 0, 1, 2, 28));
    assertEquals(128, window.lengthBytes(first, 0));
    window.releaseOldest();
    window.releaseOldest();
    assertEquals(window.nextGroup(), window.oldestGroup());
  }

  @Test
  void aDuplicateChangesNothing() {
    int slot = window.open(1);
    window.record(slot, 0, 0, 3, 4, 10);
    assertEquals(ReorderWindow.DUPLICATE, window.record(slot, 0, 0, 3, 4, 10));
    assertEquals(10, window.lengthBytes(slot, 0));
    assertEquals(0b1000, window.arrivedChunks(slot, 0));
  }

  @Test
  void distanceIsCountedFromTheFirstMissingChunk() {
    int slot = window.open(1);
    window.record(slot, 0, 0, 5, 64, 10);
    assertEquals(5, window.aheadOfGap(slot, 0, 5));
    for (int chunk = 0; chunk < 5; chunk++) {
      window.record(slot, 0, 0, chunk, 64, 10);
      assertEquals(0, window.aheadOfGap(slot, 0, chunk), "chunk " + chunk + " closed the gap");
    }
    for (int chunk = 63; chunk > 5; chunk--) {
      window.record(slot, 0, 0, chunk, 64, 10);
      assertEquals(chunk == 6 ? 0 : chunk - 6, window.aheadOfGap(slot, 0, chunk));
    }
  }

  @Test
  void lateChunkOfAnEarlierUseIsADuplicate() {
    for (int use = 0; use < 3; use++) {
      for (int i = 0; i < 256; i++) {
        int slot = window.open(1);
        assertEquals(ReorderWindow.GROUP_FULL, window.record(slot, use, 0, 0, 1, 1));
        assertEquals(ReorderWindow.DUPLICATE, window.record(slot, (use + 15) & 15, 0, 0, 1, 1));
        window.releaseOldest();
        assertEquals(ReorderWindow.DUPLICATE, window.record(slot, use, 0, 0, 1, 1));
      }
    }
  }

  @Test
  void windowIsFullWhenAllSlotsAreOpen() {
    for (int i = 0; i < 256; i++) {
      assertTrue(window.hasRoom());
      window.open(8);
    }
    assertFalse(window.hasRoom());
  }

  @Test
  void contradictoryNumbersAreRefused() {
    int slot = window.open(2);
    assertEquals(
        ReorderWindow.CONTRADICTION, window.record(slot, 0, 2, 0, 1, 1), "no third receive");
    assertEquals(ReorderWindow.CONTRADICTION, window.record(slot, 0, 0, 4, 4, 1), "chunk 4 of 4");
    assertEquals(ReorderWindow.CONTRADICTION, window.record(slot, 0, 0, 0, 65, 1), "65 chunks");
    assertEquals(ReorderWindow.CONTRADICTION, window.record(999, 0, 0, 0, 1, 1), "no such slot");
    window.record(slot, 0, 0, 0, 4, 1);
    assertEquals(
        ReorderWindow.CONTRADICTION, window.record(slot, 0, 0, 1, 5, 1), "4 chunks, then 5");
    assertEquals(1, window.lengthBytes(slot, 0));
  }

  @Test
  void slotsMustBeAPowerOfTwo() {
    assertThrows(IllegalArgumentException.class, () -> new ReorderWindow(100));
  }

  private record Chunk(long group, int generation, int receive, int chunk, int chunks) {}

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void anyOrderOfArrivalWithDuplicatesCompletesEveryGroupOnceAndInOrder(long seed) {
    Random random = new Random(seed);
    ReorderWindow small = new ReorderWindow(8);
    List<Chunk> inFlight = new ArrayList<>();
    List<Chunk> delivered = new ArrayList<>();
    long released = 0;
    while (released < 2_000) {
      while (small.hasRoom() && random.nextInt(4) != 0) {
        long group = small.nextGroup();
        int receives = 1 + random.nextInt(8);
        int slot = small.open(receives);
        for (int receive = 0; receive < receives; receive++) {
          int chunks = 1 + random.nextInt(random.nextBoolean() ? 3 : 64);
          for (int chunk = 0; chunk < chunks; chunk++) {
            inFlight.add(new Chunk(group, small.generation(slot), receive, chunk, chunks));
          }
        }
      }
      Collections.shuffle(inFlight, random);
      for (int i = 0; i < 40 && !inFlight.isEmpty(); i++) {
        Chunk chunk = inFlight.removeLast();
        int result = deliver(small, chunk);
        assertTrue(result == ReorderWindow.ACCEPTED || result == ReorderWindow.GROUP_FULL);
        delivered.add(chunk);
        Chunk again = delivered.get(random.nextInt(delivered.size()));
        if (again.group() > released - 8 * 8) { // before the slot's generation repeats
          assertEquals(ReorderWindow.DUPLICATE, deliver(small, again), "seed " + seed);
        }
      }
      while (small.oldestGroup() < small.nextGroup() && small.isFull(small.oldestGroup())) {
        long oldest = small.oldestGroup();
        assertTrue(inFlight.stream().noneMatch(chunk -> chunk.group() == oldest), "seed " + seed);
        small.releaseOldest();
        released++;
      }
    }
  }

  private static int deliver(ReorderWindow window, Chunk chunk) {
    return window.record(
        window.slotOf(chunk.group()),
        chunk.generation(),
        chunk.receive(),
        chunk.chunk(),
        chunk.chunks(),
        64);
  }
}
