package io.heddle.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class IdTableTest {
  @Test
  void findsOnlyAddedObjects() {
    IdTable<String> table = new IdTable<>();
    long first = table.add("first");
    long second = table.add("second");
    assertEquals("first", table.get(first));
    assertEquals("second", table.get(second));
    for (long never : new long[] {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, first + (1L << 40)}) {
      assertNull(table.get(never), () -> "found something under " + never);
    }
  }

  @Test
  void removedIdFindsNothingAfterItsSlotIsReused() {
    IdTable<String> table = new IdTable<>();
    long old = table.add("old");
    assertEquals("old", table.remove(old));
    long successor = table.add("successor");
    assertNull(table.get(old));
    assertNull(table.remove(old));
    assertEquals("successor", table.get(successor));
  }

  @Test
  void behavesLikeAMapWithUniqueIds() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    IdTable<Object> table = new IdTable<>();
    Map<Long, Object> model = new HashMap<>();
    Set<Long> given = new HashSet<>();
    for (int step = 0; step < 5_000; step++) {
      if (model.isEmpty() || random.nextInt(100) < 52) {
        Object object = new Object();
        long id = table.add(object);
        assertTrue(id > 0 && given.add(id), "seed " + seed);
        model.put(id, object);
      } else {
        long id =
            model.keySet().stream().skip(random.nextInt(model.size())).findFirst().orElseThrow();
        assertEquals(model.remove(id), table.remove(id), "seed " + seed);
      }
      assertEquals(model.size(), table.size(), "seed " + seed);
    }
    for (long id : given) {
      assertEquals(model.get(id), table.get(id), "seed " + seed);
    }
  }
}
