package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Classes that all use each other, by whatever detours, can only be read and tested together: a
 * knot. Within a module none is larger than {@link #MOST} classes. A nested class counts with its
 * outer one.
 */
class KnotsTest {
  private static final int MOST = 8;

  /* Larger knots, which were there before this test. A figure may shrink, and its line go; none may grow or come. */
  private static final Map<String, Integer> TIED = Map.of("verbs", 10);

  @Test
  void noKnotIsLarge() throws Exception {
    StringBuilder found = new StringBuilder();
    new TreeMap<>(graphs())
        .forEach((module, graph) -> {
          SortedSet<String> knot = largestKnot(graph);
          int allowed = TIED.getOrDefault(module, MOST);
          if (knot.size() > allowed) {
            found.append(
                "%s: %s classes use each other, %s may: %s%n"
                    .formatted(module, knot.size(), allowed, knot));
          } else if (knot.size() < allowed && TIED.containsKey(module)) {
            found.append(
                "%s: the largest knot has %s classes now: write that into the table, or take its line out%n"
                    .formatted(module, knot.size()));
          }
        });
    assertEquals("", found.toString());
  }

  @Test
  void aKnotIsFoundThroughDetours() {
    Map<String, Set<String>> graph =
        Map.of(
            "above", Set.of("first"),
            "first", Set.of("second"),
            "second", Set.of("third", "below"),
            "third", Set.of("first"),
            "below", Set.of());
    assertEquals(Set.of("first", "second", "third"), largestKnot(graph));
  }

  /* By module, which class uses which. */
  private static Map<String, Map<String, Set<String>>> graphs() throws Exception {
    Map<String, Map<String, Set<String>>> graphs = new HashMap<>();
    for (JavaClass type : new ClassFileImporter().importPaths(Repository.classFolders())) {
      String module = ModuleNames.of(type);
      Set<String> used =
          graphs
              .computeIfAbsent(module, name -> new HashMap<>())
              .computeIfAbsent(outermost(type), name -> new TreeSet<>());
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        if (ModuleNames.of(target).equals(module)) {
          used.add(outermost(target));
        }
      }
    }
    return graphs;
  }

  private static String outermost(JavaClass type) {
    return type.getName().split("\\$", 2)[0];
  }

  private static SortedSet<String> largestKnot(Map<String, Set<String>> graph) {
    Map<String, Set<String>> reached = new HashMap<>();
    graph.keySet().forEach(from -> reached.put(from, reachedFrom(from, graph)));
    SortedSet<String> largest = new TreeSet<>();
    for (String one : graph.keySet()) {
      SortedSet<String> knot = new TreeSet<>(reached.get(one));
      knot.removeIf(other -> !reached.getOrDefault(other, Set.of()).contains(one));
      largest = knot.size() > largest.size() ? knot : largest;
    }
    return largest;
  }

  private static Set<String> reachedFrom(String from, Map<String, Set<String>> graph) {
    Set<String> reached = new TreeSet<>(Set.of(from));
    Deque<String> left = new ArrayDeque<>(reached);
    while (!left.isEmpty()) {
      for (String next : graph.getOrDefault(left.remove(), Set.of())) {
        if (reached.add(next)) {
          left.add(next);
        }
      }
    }
    return reached;
  }
}
