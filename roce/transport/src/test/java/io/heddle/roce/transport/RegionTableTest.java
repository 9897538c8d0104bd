package io.heddle.roce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RegionTableTest {
  private static final long BASE = 0x7f00_0000_1000L;

  private static boolean writes(RegionTable table, int key, long address, long length) {
    return table.allows(key, 1, RegionTable.REMOTE_WRITE, address, length);
  }

  @Test
  void onlyRangesInsideARegionAreAllowed() {
    RegionTable table = new RegionTable(5);
    int key = table.add(BASE, 100, 1, RegionTable.REMOTE_WRITE);
    assertTrue(writes(table, key, BASE, 100));
    assertTrue(writes(table, key, BASE + 99, 1));
    assertFalse(writes(table, key, BASE + 99, 2));
    assertFalse(writes(table, key, BASE - 1, 2));
    assertFalse(writes(table, key, BASE + 100, 1));
    assertFalse(writes(table, key, Long.MIN_VALUE, 1));
    assertFalse(writes(table, key, -1, 2));
    assertFalse(writes(table, key, BASE, -1));
    assertFalse(writes(table, key, BASE + 1, Integer.MAX_VALUE));
  }

  /*
   * A packet may have any address and length, since the peer chooses them. A region may have any
   * length.
   */
  @Test
  void noRangeOutsideRegionIsAllowed() {
    Random random = new Random(4711);
    int inside = 0;
    for (int i = 0; i < 300_000; i++) {
      RegionTable table = new RegionTable(5);
      long base = 1 + (randomNumber(random) & Long.MAX_VALUE - 1);
      long bytes = 1 + (randomNumber(random) & Long.MAX_VALUE - 1);
      if (bytes > Long.MAX_VALUE - base) {
        continue; /* the device refuses such a range */
      }
      int key = table.add(base, bytes, 1, RegionTable.REMOTE_WRITE);
      long address = random.nextBoolean() ? base + randomNumber(random) : randomNumber(random);
      long length = random.nextBoolean() ? bytes + random.nextLong(-3, 4) : randomNumber(random);
      BigInteger from = BigInteger.valueOf(address);
      BigInteger to = from.add(BigInteger.valueOf(length));
      boolean covered =
          length >= 0
              && from.compareTo(BigInteger.valueOf(base)) >= 0
              && to.compareTo(BigInteger.valueOf(base + bytes)) <= 0;
      inside += covered ? 1 : 0;
      assertEquals(
          covered,
          writes(table, key, address, length),
          () -> "%s at %#x in %s at %#x".formatted(length, address, bytes, base));
    }
    assertTrue(inside > 1000, () -> "ranges inside");
  }

  /*
   * Returns a random number. Small numbers, powers of two and numbers at the ends of the range are
   * frequent.
   */
  private static long randomNumber(Random random) {
    long near = random.nextLong(-3, 4);
    return switch (random.nextInt(5)) {
      case 0 -> near;
      case 1 -> Long.MAX_VALUE - Math.abs(near);
      case 2 -> Long.MIN_VALUE + Math.abs(near);
      case 3 -> (1L << random.nextInt(63)) + near;
      default -> random.nextLong();
    };
  }

  @Test
  void domainAndRightsAreChecked() {
    RegionTable table = new RegionTable(5);
    int key = table.add(BASE, 100, 1, RegionTable.REMOTE_READ);
    assertTrue(table.allows(key, 1, RegionTable.REMOTE_READ, BASE, 1));
    assertFalse(table.allows(key, 2, RegionTable.REMOTE_READ, BASE, 1), "another domain");
    assertFalse(table.allows(key, 1, RegionTable.REMOTE_WRITE, BASE, 1), "another right");
  }

  @Test
  void keyOfClosedRegionStaysInvalidWhenItsRowIsReused() {
    RegionTable table = new RegionTable(0x3fff); /* the largest generation, so the next one wraps */
    Set<Integer> dead = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      int key = table.add(BASE, 100, 1, RegionTable.REMOTE_WRITE);
      assertNotEquals(0, key);
      assertTrue(dead.add(key), "a key came back after " + i + " regions");
      assertTrue(writes(table, key, BASE, 1));
      table.remove(key);
      assertFalse(writes(table, key, BASE, 1));
      assertThrows(IllegalStateException.class, () -> table.remove(key));
    }
  }

  @Test
  void growsWithoutForgetting() {
    RegionTable table = new RegionTable(1);
    int[] keys = new int[5000];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = table.add(BASE + 4096L * i, 4096, 1, RegionTable.REMOTE_WRITE);
    }
    Set<Integer> distinct = new HashSet<>();
    for (int i = 0; i < keys.length; i++) {
      assertTrue(distinct.add(keys[i]));
      assertTrue(writes(table, keys[i], BASE + 4096L * i, 4096));
    }
    assertEquals(keys.length, distinct.size());
    assertFalse(writes(table, keys.length + 1, BASE, 1), "a key that was never given");
  }
}
