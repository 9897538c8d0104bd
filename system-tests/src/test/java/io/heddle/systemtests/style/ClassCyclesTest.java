package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that limits dependency cycles of classes, since classes that depend on each other can only
 * be read and tested together. No cycle within a module may have more than {@link #MOST} classes. A
 * nested class counts as part of its outer class.
 */
@Execution(ExecutionMode.CONCURRENT)
class ClassCyclesTest {
  private static final int MOST = 8;

  @Test
  void noLargeClassCycles() {
    StringBuilder found = new StringBuilder();
    new TreeMap<>(ClassGraphs.byModule())
        .forEach((module, graph) -> {
          SortedSet<String> knot = ClassGraphs.largestCycle(graph);
          if (knot.size() > MOST) {
            found.append(
                "%s: %s classes use each other, %s may: %s%n"
                    .formatted(module, knot.size(), MOST, knot));
          }
        });
    assertEquals("", found.toString());
  }

  @Test
  void findsIndirectCycles() {
    Map<String, Set<String>> graph =
        Map.of(
            "above", Set.of("first"),
            "first", Set.of("second"),
            "second", Set.of("third", "below"),
            "third", Set.of("first"),
            "below", Set.of());
    assertEquals(Set.of("first", "second", "third"), ClassGraphs.largestCycle(graph));
  }
}
