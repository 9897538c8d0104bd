package io.heddle.cli.paths;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/**
 * Test of {@link StoppingRule} with the table in the paper on the Multipath Detection Algorithm.
 */
final class StoppingRuleTest {
  @Test
  void numberOfFlowsIsThePapers() {
    int[] paper = {6, 11, 16, 21, 27, 33};
    for (int found = 1; found <= paper.length; found++) {
      assertEquals(paper[found - 1], StoppingRule.flows(found), found + " found");
    }
  }

  @Test
  void confidenceOfOneRouterDoublesWithEachFlow() {
    assertEquals(0, StoppingRule.confidence(1, 1), 1e-12);
    assertEquals(0.5, StoppingRule.confidence(1, 2), 1e-12);
    assertEquals(0.75, StoppingRule.confidence(1, 3), 1e-12);
  }
}
