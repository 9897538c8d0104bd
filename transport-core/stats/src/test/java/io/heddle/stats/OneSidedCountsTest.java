package io.heddle.stats;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class OneSidedCountsTest {
  @Test
  void eachKindOfOperationCountsAsOne() {
    assertFalse(new OneSidedCounts(0, 0, 0, 0, 0).hasOperations());
    assertTrue(new OneSidedCounts(1, 0, 0, 0, 0).hasOperations());
    assertTrue(new OneSidedCounts(0, 1, 0, 0, 0).hasOperations(), "a signal before its put");
    assertTrue(new OneSidedCounts(0, 0, 1, 0, 0).hasOperations());
    assertTrue(new OneSidedCounts(0, 0, 0, 1, 0).hasOperations());
    assertTrue(new OneSidedCounts(0, 0, 0, 0, 1).hasOperations());
  }
}
