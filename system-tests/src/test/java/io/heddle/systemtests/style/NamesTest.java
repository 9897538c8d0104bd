package io.heddle.systemtests.style;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Test that class names are unique without their packages, so that logs, stack traces and
 * discussions need no package names.
 */
@Execution(ExecutionMode.CONCURRENT)
class NamesTest {
  @Test
  void noTwoClassesHaveOneName() {
    Map<String, SortedSet<String>> byName = new TreeMap<>();
    for (JavaClass type : ImportedClasses.all()) {
      if (type.isTopLevelClass() && !type.getSimpleName().equals("package-info")) {
        byName.computeIfAbsent(type.getSimpleName(), name -> new TreeSet<>()).add(type.getName());
      }
    }
    assertTrue(byName.size() > 500, "few classes were read: " + byName.size());
    StringBuilder found = new StringBuilder();
    byName.values().stream()
        .filter(classes -> classes.size() > 1)
        .forEach(classes -> found.append(classes).append('\n'));
    assertEquals("", found.toString());
  }
}
