package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Test of probabilities against those counted by hand. */
final class RandomPlacementTest {
  @Test
  void twoFlowsOnTwoLinksCollideHalfTheTime() {
    assertEquals(0.5, RandomPlacement.ofWorstLink(2, 2, 2), 1e-12);
    assertEquals(1, RandomPlacement.ofWorstLink(2, 2, 1), 1e-12);
    assertEquals(0, RandomPlacement.ofWorstLink(2, 2, 3), 1e-12);
  }

  /* The birthday problem: 23 people are the flows, 365 days the links. */
  @Test
  void birthdayProblemIsSolved() {
    assertEquals(0.507297, RandomPlacement.ofWorstLink(23, 365, 2), 1e-6);
  }

  @Test
  void everyPlacementOfSixFlowsOnThreeLinksCounts() {
    for (int most = 1; most <= 6; most++) {
      int bad = 0;
      for (int code = 0; code < 729; code++) {
        int[] loads = new int[3];
        for (int rest = code, i = 0; i < 6; i++, rest /= 3) {
          loads[rest % 3]++;
        }
        bad += Math.max(loads[0], Math.max(loads[1], loads[2])) >= most ? 1 : 0;
      }
      assertEquals(bad / 729.0, RandomPlacement.ofWorstLink(6, 3, most), 1e-12, most + " and more");
    }
  }

  @Test
  void approximationForManyFlowsMatchesTheExactProbability() {
    double exact = RandomPlacement.ofWorstLink(4096, 64, 86);
    double near = RandomPlacement.ofWorstLink(4097, 64, 86);
    assertTrue(exact > 0.1 && exact < 0.9, "a probability in the middle: " + exact);
    assertEquals(exact, near, 0.03);
  }

  @Test
  void usedLinksHaveTheirExpectedNumber() {
    assertEquals(1, RandomPlacement.usedLinks(1, 7), 1e-12);
    assertEquals(1.5, RandomPlacement.usedLinks(2, 2), 1e-12);
    assertEquals(1, RandomPlacement.usedLinks(5, 1), 1e-12);
  }

  /* Two flows on two links share a link in half of all cases, so the band contains both results. */
  @Test
  void bandExcludesRareCasesOnBothSides() {
    assertEquals(new RandomPlacement.Band(1, 2), RandomPlacement.ofWorstLinks(2, 2, 0.05));
    assertEquals(new RandomPlacement.Band(1, 1), RandomPlacement.ofWorstLinks(1, 5, 0.05));
    for (int flows : new int[] {6, 40, 300}) {
      RandomPlacement.Band band = RandomPlacement.ofWorstLinks(flows, 8, 0.05);
      assertTrue(
          RandomPlacement.ofWorstLink(flows, 8, band.most() + 1) <= 0.05, flows + ": " + band);
      assertTrue(RandomPlacement.ofWorstLink(flows, 8, band.most()) > 0.05, flows + ": " + band);
      assertTrue(
          1 - RandomPlacement.ofWorstLink(flows, 8, band.least() + 1) >= 0.05, flows + ": " + band);
      assertTrue(
          1 - RandomPlacement.ofWorstLink(flows, 8, band.least()) < 0.05, flows + ": " + band);
    }
  }
}
