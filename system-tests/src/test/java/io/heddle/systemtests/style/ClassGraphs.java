package io.heddle.systemtests.style;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Dependency graph of the classes within each module. A nested class counts with its outer one. */
final class ClassGraphs {
  /* protoc's messages and their file class all depend on each other. */
  private static final String GENERATED = "io.heddle.telemetry.proto";

  private ClassGraphs() {}

  /** Returns each class's dependencies by module, without generated classes. */
  static Map<String, Map<String, Set<String>>> byModule() {
    Map<String, Map<String, Set<String>>> graphs = new HashMap<>();
    for (JavaClass type : ImportedClasses.all()) {
      if (type.getPackageName().equals(GENERATED)) {
        continue;
      }
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

  /** Returns the largest strongly connected component. */
  static SortedSet<String> largestCycle(Map<String, Set<String>> graph) {
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
