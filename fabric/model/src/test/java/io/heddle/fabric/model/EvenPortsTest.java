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

/** Test that chosen ports spread over links as evenly as their number allows. */
final class EvenPortsTest {
  private static SortedMap<Integer, List<String>> paths(int ports, long seed) {
    Random random = new Random(seed);
    SortedMap<Integer, List<String>> paths = new TreeMap<>();
    for (int port = 50_000; port < 50_000 + ports; port++) {
      paths.put(port, List.of("spine" + random.nextInt(4), "core" + random.nextInt(3)));
    }
    return paths;
  }

  @Test
  void everySwitchsLinksDifferByOneFlowAtMost() {
    for (int count = 1; count <= 60; count++) {
      SortedMap<Integer, List<String>> paths = paths(500, count);
      List<Integer> chosen = EvenPorts.choose(count, paths);
      assertEquals(count, new TreeSet<>(chosen).size());
      List<List<String>> taken = chosen.stream().map(paths::get).toList();
      assertTrue(EvenPorts.unevenness(paths.values(), taken) <= 1, count + ": " + taken);
    }
  }

  @Test
  void unevennessIsThatOfTheWorstSwitch() {
    List<List<String>> all =
        List.of(List.of("a", "x"), List.of("a", "y"), List.of("b", "x"), List.of("b", "y"));
    List<List<String>> chosen =
        List.of(List.of("a", "x"), List.of("a", "x"), List.of("b", "x"), List.of("b", "y"));
    assertEquals(2, EvenPorts.unevenness(all, chosen), "a's links have 2 and 0");
  }

  @Test
  void linkWithTooFewPortsIsReported() {
    SortedMap<Integer, List<String>> paths = new TreeMap<>();
    paths.put(1, List.of("left"));
    paths.put(2, List.of("right"));
    paths.put(3, List.of("right"));
    assertEquals(List.of(1, 2), EvenPorts.choose(2, paths));
    assertEquals(
        "only 1 known ports take the link to left: measure again, with more --ports",
        assertThrows(HeddleException.class, () -> EvenPorts.choose(4, paths)).getMessage());
  }
}
