package io.heddle.bridge.unicast;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.multicast.RateLimit;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Lookup and eviction of host pairs, in virtual time. */
class PairTableTest {
  private static final long MAPPED = 0xffff_0000_0000L;

  private static LimitedFlow flow() {
    return new LimitedFlow(0, null, RateLimit.NONE, 0, 0);
  }

  private static LimitedFlow find(PairTable table, int source, int destination, long nowNs) {
    return table.find(0, MAPPED | source, 0, MAPPED | destination, nowNs);
  }

  private static LimitedFlow add(PairTable table, int source, int destination, long nowNs) {
    LimitedFlow flow = flow();
    table.add(0, MAPPED | source, 0, MAPPED | destination, flow, nowNs);
    return flow;
  }

  @Test
  void findsPairAndItsReverseSeparately() {
    PairTable table = new PairTable(4);
    assertNull(find(table, 1, 2, 0));
    LimitedFlow there = add(table, 1, 2, 0);
    assertNull(find(table, 2, 1, 0));
    LimitedFlow back = add(table, 2, 1, 0);
    assertSame(there, find(table, 1, 2, 0));
    assertSame(back, find(table, 2, 1, 0));
    assertNull(table.find(1, MAPPED | 1, 0, MAPPED | 2, 0));
    assertNull(table.find(0, MAPPED | 1, 1, MAPPED | 2, 0));
  }

  @Test
  void evictsLeastRecentlyUsedPair() {
    PairTable table = new PairTable(3);
    add(table, 1, 9, 0);
    add(table, 2, 9, 1);
    add(table, 3, 9, 2);
    assertNotNull(find(table, 1, 9, 3));
    add(table, 4, 9, 4);
    assertEquals(3, table.size());
    assertEquals(1, table.evicted());
    assertNull(find(table, 2, 9, 5));
    assertNotNull(find(table, 1, 9, 5));
  }

  @Test
  void pairExpiresAfterFiveIdleMinutes() {
    PairTable table = new PairTable(3);
    add(table, 1, 9, 0);
    add(table, 2, 9, 5);
    assertNotNull(find(table, 1, 9, 10));
    table.expire(4 + PairTable.IDLE_NS);
    assertEquals(2, table.size());
    table.expire(5 + PairTable.IDLE_NS);
    assertEquals(1, table.size());
    assertNotNull(find(table, 1, 9, 6 + PairTable.IDLE_NS));
    assertEquals(1, table.aged());
    table.expire(6 + 2 * PairTable.IDLE_NS);
    assertEquals(0, table.size());
    assertEquals(0, table.evicted());
  }

  /* Compares evictions with a map that keeps the order of use. */
  @Test
  void evictsSamePairsAsOrderedMap() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int most = 50;
    PairTable table = new PairTable(most);
    Map<Integer, LimitedFlow> model = new LinkedHashMap<>(16, 0.75f, true);
    Map<Integer, Long> used = new LinkedHashMap<>();
    long now = 0;
    for (int i = 0; i < 20_000; i++) {
      now += random.nextLong(PairTable.IDLE_NS / 40);
      table.expire(now);
      for (Iterator<Integer> keys = model.keySet().iterator(); keys.hasNext(); ) {
        if (now - used.get(keys.next()) >= PairTable.IDLE_NS) {
          keys.remove();
        }
      }
      int pair = random.nextInt(100);
      LimitedFlow expected = model.get(pair);
      assertSame(expected, find(table, pair / 10, pair % 10, now), "seed " + seed);
      if (expected == null) {
        if (model.size() == most) {
          model.remove(model.keySet().iterator().next());
        }
        model.put(pair, add(table, pair / 10, pair % 10, now));
      }
      used.put(pair, now);
      assertEquals(model.size(), table.size(), "seed " + seed);
    }
  }
}
