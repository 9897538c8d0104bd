package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.Events;

class WholeRunOnlyTest {
  /**
   * Test class with long tests. Only the tests below run it, since its name doesn't match the
   * build's patterns for tests.
   */
  static final class Long {
    @Test
    void always(TestInfo test) {
      assertEquals("always", test.getTestMethod().orElseThrow().getName());
    }

    @Test
    @WholeRunOnly
    void seldom(TestInfo test) {
      assertEquals("seldom", test.getTestMethod().orElseThrow().getName());
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "two", "three"})
    @WholeRunOnly(alwaysRunRows = {1, 3})
    void rows(String row) {
      assertEquals(row, row.strip());
    }

    @ParameterizedTest
    @ValueSource(strings = {"one", "two"})
    @WholeRunOnly
    void seldomRows(String row) {
      assertEquals(row, row.strip());
    }
  }

  private static Events run(boolean whole) {
    return EngineTestKit.engine("junit-jupiter")
        .configurationParameter("heddle.test.whole", String.valueOf(whole))
        .selectors(selectClass(Long.class))
        .execute()
        .allEvents();
  }

  @Test
  void shortRunSkipsMarkedTestsAndNamesOption() {
    Events events = run(false);

    assertEquals(
        List.of("[1] row=one", "[3] row=three", "always(TestInfo)"),
        events.succeeded().stream()
            .filter(event -> event.getTestDescriptor().isTest())
            .map(event -> event.getTestDescriptor().getDisplayName())
            .sorted()
            .toList());
    assertEquals(3, events.skipped().count());
    assertTrue(
        events.skipped().stream()
            .map(Event::toString)
            .allMatch(event -> event.contains("./heddle test --whole")));
  }

  @Test
  void wholeRunSkipsNothing() {
    Events events = run(true);

    assertEquals(7, events.succeeded().filter(event -> event.getTestDescriptor().isTest()).count());
    assertEquals(0, events.skipped().count());
  }
}
