package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that the packages of a module have no new dependency cycles. The root package counts like
 * any other.
 *
 * <p>{@code slices.txt} lists the existing dependencies that form cycles. The test fails if there
 * is another one, or if a listed one no longer exists. So the list only shrinks.
 */
@Execution(ExecutionMode.CONCURRENT)
class SlicesTest {
  private static final String ARROW = " -> ";

  @Test
  void packagesOfAModuleHaveAnOrder() throws Exception {
    Set<String> found = new TreeSet<>();
    int arrows = 0;
    Map<String, List<JavaClass>> modules =
        ImportedClasses.all().stream().collect(Collectors.groupingBy(ImportedClasses::folder));
    for (List<JavaClass> classes : modules.values()) {
      Map<String, Set<String>> uses = uses(classes);
      for (Map.Entry<String, Set<String>> user : uses.entrySet()) {
        for (String used : user.getValue()) {
          arrows++;
          if (isReachable(used, user.getKey(), uses)) {
            found.add(user.getKey() + ARROW + used);
          }
        }
      }
    }
    assertTrue(arrows > 0, "no arrow between packages found at all");
    Set<String> frozen = frozen();
    assertEquals("", difference(found, frozen), "new circles of packages: undo these arrows");
    assertEquals("", difference(frozen, found), "no more on a circle: take them out of slices.txt");
  }

  /** Returns, for each package, the other packages of the same module that it uses. */
  private static Map<String, Set<String>> uses(List<JavaClass> classes) {
    Set<String> own = classes.stream().map(JavaClass::getPackageName).collect(Collectors.toSet());
    Map<String, Set<String>> uses = new TreeMap<>();
    for (JavaClass type : classes) {
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        String used = dependency.getTargetClass().getBaseComponentType().getPackageName();
        if (own.contains(used) && !used.equals(type.getPackageName())) {
          uses.computeIfAbsent(type.getPackageName(), name -> new TreeSet<>()).add(used);
        }
      }
    }
    return uses;
  }

  private static boolean isReachable(String from, String to, Map<String, Set<String>> uses) {
    Set<String> seen = new HashSet<>(Set.of(from));
    Deque<String> next = new ArrayDeque<>(seen);
    while (!next.isEmpty()) {
      for (String used : uses.getOrDefault(next.remove(), Set.of())) {
        if (used.equals(to)) {
          return true;
        }
        if (seen.add(used)) {
          next.add(used);
        }
      }
    }
    return false;
  }

  private static Set<String> frozen() throws Exception {
    try (InputStream list = SlicesTest.class.getResourceAsStream("slices.txt")) {
      return new String(list.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.contains(ARROW))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  private static String difference(Set<String> these, Set<String> those) {
    return these.stream().filter(each -> !those.contains(each)).collect(Collectors.joining("\n"));
  }
}
