package io.heddle.bgpstub.rib;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bgp.wire.Prefix;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RouteTableTest {
  private static final int KEYS = 5_000;
  private static final int STEPS = 60_000;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void behavesLikeAMapThroughGrowthAndRemovals(long seed) {
    Random random = new Random(seed);
    RouteTable table = new RouteTable();
    Map<Prefix, Integer> map = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      int key = random.nextInt(KEYS);
      int length = key % 3 == 0 ? 64 : 128;
      Prefix prefix = new Prefix(0xfd00_0009_0000_0000L | key, length == 64 ? 0 : 1, length);
      Integer before;
      int was;
      if (random.nextInt(100) < 45) {
        before = map.remove(prefix);
        was = table.remove(prefix.high(), prefix.low(), length);
      } else {
        before = map.put(prefix, step);
        was = table.put(prefix.high(), prefix.low(), length, step);
      }
      assertEquals(before == null ? RouteTable.NONE : before, was, prefix.toString());
    }
    assertEquals(map.size(), table.size());
    map.forEach((prefix, value) ->
        assertEquals(value, table.get(prefix.high(), prefix.low(), prefix.length())));
    Map<Prefix, Integer> visited = new HashMap<>();
    table.forEach((high, low, length, value) -> visited.put(new Prefix(high, low, length), value));
    assertEquals(map, visited);
    long whole = map.keySet().stream().filter(prefix -> prefix.length() == 128).count();
    assertEquals(whole, table.routesOfLength(128));
  }
}
