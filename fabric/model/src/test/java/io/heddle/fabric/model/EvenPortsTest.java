package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Ports that spread over links as evenly as their number allows. */
final class EvenPortsTest {
  private static SortedMap<Integer, List<String>> ways(int ports, long seed) {
    Random random = new Random(seed);
    SortedMap<Integer, List<String>> ways = new TreeMap<>();
    for (int port = 50_000; port < 50_000 + ports; port++) {
      ways.put(port, List.of("spine" + random.nextInt(4), "core" + random.nextInt(3)));
    }
    return ways;
  }

  @Test
  void everySwitchsLinksDifferByOneFlowAtMost() {
    for (int count = 1; count <= 60; count++) {
      SortedMap<Integer, List<String>> ways = ways(500, count);
      List<Integer> chosen = EvenPorts.choose(count, ways);
      assertEquals(count, new TreeSet<>(chosen).size());
      List<List<String>> taken = chosen.stream().map(ways::get).toList();
      assertTrue(EvenPorts.unevenness(ways.values(), taken) <= 1, count + ": " + taken);
    }
  }

  @Test
  void unevennessIsTheWorstSwitchs() {
    List<List<String>> all =
        List.of(List.of("a", "x"), List.of("a", "y"), List.of("b", "x"), List.of("b", "y"));
    List<List<String>> chosen =
        List.of(List.of("a", "x"), List.of("a", "x"), List.of("b", "x"), List.of("b", "y"));
    assertEquals(2, EvenPorts.unevenness(all, chosen), "a's links have 2 and 0");
  }

  @Test
  void aLinkWithTooFewPortsIsNamed() {
    SortedMap<Integer, List<String>> ways = new TreeMap<>();
    ways.put(1, List.of("left"));
    ways.put(2, List.of("right"));
    ways.put(3, List.of("right"));
    assertEquals(List.of(1, 2), EvenPorts.choose(2, ways));
    assertEquals(
        "only 1 ports are known to take the link to left: measure again, with more --ports",
        assertThrows(HeddleException.class, () -> EvenPorts.choose(4, ways)).getMessage());
  }
}
