package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that limits dependency cycles of classes, and of files in C, since parts that depend on each
 * other can only be read and tested together. No cycle within a module, or within a folder of C,
 * may have more than {@link #MOST} parts. A nested class counts as part of its outer class.
 */
@Execution(ExecutionMode.CONCURRENT)
class ClassCyclesTest {
  private static final int MOST = 6;

  /* Modules with a larger cycle, and the number of classes that it may have. Only shrinks. */
  private static final Map<String, Integer> LARGER = Map.of("softdevice", 7);

  @Test
  void noLargeClassCycles() {
    assertEquals("", largeCycles(ClassGraphs.byModule()));
  }

  @Test
  void noLargeCyclesOfFilesInC() throws Exception {
    Map<String, Map<String, Set<String>>> graphs = CFileGraphs.byFolder();
    assertTrue(graphs.get("native/src").get("core.c").contains("exit_flush.c"), graphs::toString);
    assertEquals("", largeCycles(graphs));
  }

  private static String largeCycles(Map<String, Map<String, Set<String>>> graphs) {
    StringBuilder found = new StringBuilder();
    new TreeMap<>(graphs)
        .forEach((where, graph) -> {
          SortedSet<String> knot = ClassGraphs.largestCycle(graph);
          int most = LARGER.getOrDefault(where, MOST);
          if (knot.size() > most) {
            found.append(
                "%s: %s use each other, %s may: %s%n".formatted(where, knot.size(), most, knot));
          }
        });
    return found.toString();
  }

  @Test
  void filesInCUseTheDefinersOfDeclaredNames() {
    Map<String, String> files =
        Map.of(
            "a.c", "int first(int x) {\n  return second + own(x);\n}\n",
            "b.c", "int second;\nstatic int own(int x) {\n  return first(x);\n}\n",
            "c.c", "void third(void) {\n  first(2);\n}\n");
    assertEquals(
        Map.of("a.c", Set.of("b.c"), "b.c", Set.of("a.c"), "c.c", Set.of("a.c")),
        CFileGraphs.graph(files, Set.of("first", "second", "third", "own")));
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
