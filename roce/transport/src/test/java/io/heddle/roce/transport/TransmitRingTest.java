package io.heddle.roce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests which memory a transmit ring uses for the next train. */
class TransmitRingTest {
  private final LargeTrains trains = new LargeTrains();
  private final RingShares shares = new RingShares();
  private final TransmitRing ring = new TransmitRing(0, trains, shares);
  private long psn = 1;

  private long add() {
    return add(ring);
  }

  private long add(TransmitRing ring) {
    long address = ring.nextAddress();
    ring.add(psn, 1, 1, 1000, 1000);
    psn++;
    return address;
  }

  private void markNewestZeroCopy() {
    trains.addZeroCopy();
    ring.markZeroCopy(ring.tail() - 1);
  }

  @Test
  void copiedBlocksAreReusedFirst() {
    long first = add();
    ring.removeHead();
    assertEquals(first, ring.nextAddress());
  }

  @Test
  void zeroCopyBlocksAreReusedAfterRest() {
    Set<Long> used = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      used.add(add());
      markNewestZeroCopy();
      ring.removeHead();
    }
    assertEquals(1 + TransmitRing.SLOTS, used.size(), "one of the first area, all of the second");
    used.clear();
    ring.clear();
    for (int i = 0; i < 1000; i++) {
      for (int others = 0; others < 3; others++) {
        trains.addZeroCopy();
      }
      used.add(add());
      markNewestZeroCopy();
      ring.removeHead();
    }
    assertEquals(TransmitRing.SLOTS / 4 + 1, used.size(), "where four queue pairs take turns");
  }

  @Test
  void zeroCopyBlocksAreReusedSoonerWhenFull() {
    add();
    markNewestZeroCopy();
    ring.removeHead();
    long zeroCopySlot = add();
    markNewestZeroCopy();
    ring.removeHead();
    for (int i = 1; i < TransmitRing.SLOTS; i++) {
      assertFalse(add() == zeroCopySlot, "train " + i);
    }
    assertFalse(ring.isFull());
    assertEquals(zeroCopySlot, add());
    assertTrue(ring.isFull());
  }

  @Test
  void onlyZeroCopyUsesSecondArea() {
    long second = TransmitRing.AREA_BYTES;
    for (int i = 0; i < 1000; i++) {
      assertTrue(add() < second);
      if (ring.isFull() || i % 3 == 0) {
        ring.removeHead();
      }
    }
    long zeroCopySlot = ring.tail() - 1;
    markNewestZeroCopy();
    assertTrue(ring.address(zeroCopySlot) < second, "what is there already stays");
    while (ring.head() < ring.tail()) {
      ring.removeHead();
    }
    for (int i = 0; i < 1000; i++) {
      assertTrue(add() >= second);
      ring.removeHead();
    }
    ring.clear();
    assertTrue(add() >= second);
  }

  @Test
  void noTwoTrainsOutstandingShareMemory() {
    for (long seed = 1; seed <= 200; seed++) {
      Random random = new Random(seed);
      TransmitRing ring = new TransmitRing(0, trains, shares);
      for (int step = 0; step < 2_000; step++) {
        if (random.nextBoolean() && !ring.isFull()) {
          long next = ring.nextAddress();
          assertEquals(next, add(ring));
          if (random.nextInt(3) > 0) {
            trains.addZeroCopy();
            ring.markZeroCopy(ring.tail() - 1);
          }
        } else if (ring.head() < ring.tail()) {
          ring.removeHead();
        }
        Set<Long> used = new HashSet<>();
        for (long slot = ring.head(); slot < ring.tail(); slot++) {
          assertTrue(used.add(ring.address(slot)), "seed " + seed + ", step " + step);
        }
        assertTrue(ring.isFull() || used.add(ring.nextAddress()), "seed " + seed);
      }
    }
  }

  /* Adds large trains until the ring has its share; returns their number. */
  private int fill(TransmitRing ring) {
    int added = 0;
    while (!ring.hasFullShare()) {
      ring.add(psn, 8, 8, 8736, 61_000);
      psn += 8;
      added++;
    }
    return added;
  }

  private static void acknowledgeAll(TransmitRing ring) {
    while (ring.head() < ring.tail()) {
      ring.removeHead();
    }
  }

  @Test
  void singleRingHasFullShare() {
    assertEquals(TransmitRing.SLOTS, fill(ring));
    assertTrue(ring.isFull());
  }

  @Test
  void ringsWithLargeTrainsShareLimit() {
    TransmitRing second = new TransmitRing(0, trains, shares);
    ring.add(psn++, 1, 1, 40_000, 40_000);
    assertEquals(TransmitRing.SLOTS / 2, fill(second));
    assertEquals(TransmitRing.SLOTS / 2 - 1, fill(ring));
    acknowledgeAll(second);
    assertEquals(TransmitRing.SLOTS / 2, fill(ring), "the other has none any more");
    fill(second);
    assertTrue(ring.hasFullShare());
    second.clear();
    assertEquals(TransmitRing.SLOTS, shares.share(), "nor does one that was reset");
  }

  @Test
  void everyRingKeepsMinimumShare() {
    for (int i = 0; i < 100; i++) {
      TransmitRing other = new TransmitRing(0, trains, shares);
      other.add(psn++, 1, 1, 40_000, 40_000);
    }
    assertEquals(RingShares.LEAST, fill(ring));
  }

  @Test
  void smallTrainsIgnoreShares() {
    TransmitRing second = new TransmitRing(0, trains, shares);
    for (int i = 0; i < TransmitRing.SLOTS; i++) {
      add(second);
    }
    assertEquals(TransmitRing.SLOTS, fill(ring));
  }
}
