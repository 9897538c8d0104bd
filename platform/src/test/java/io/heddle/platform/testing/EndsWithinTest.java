package io.heddle.platform.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

class EndsWithinTest {
  /**
   * Test class that hangs. Only the tests below run it, since its name doesn't match the build's
   * patterns for tests.
   */
  @EndsWithin(1)
  static final class Hanging {
    @Test
    void forever() throws InterruptedException {
      new CountDownLatch(1).await();
    }

    @Test
    @EndsWithin(60)
    void shortly() {
      assertTrue(Thread.currentThread().isAlive());
    }

    @TestFactory
    @EndsWithin(60)
    Stream<DynamicTest> generated() {
      return Stream.of(DynamicTest.dynamicTest("one", this::shortly));
    }
  }

  @Test
  void hangingTestFailsWithStacksOfAllThreads() {
    Events tests =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(Hanging.class))
            .execute()
            .testEvents();

    assertEquals(2, tests.succeeded().count());
    assertEquals(1, tests.failed().count());
    AssertionError error =
        assertInstanceOf(
            AssertionError.class,
            tests.failed().stream()
                .findFirst()
                .orElseThrow()
                .getRequiredPayload(org.junit.platform.engine.TestExecutionResult.class)
                .getThrowable()
                .orElseThrow());
    assertTrue(error.getMessage().contains("EndsWithinTest$Hanging.forever"), error.getMessage());
    assertInstanceOf(InterruptedException.class, error.getCause());
  }
}
