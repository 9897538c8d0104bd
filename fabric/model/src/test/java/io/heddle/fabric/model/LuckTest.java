package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The chances against what can be counted by hand. */
final class LuckTest {
  @Test
  void ofTwoFlowsOnTwoLinksHalfMeet() {
    assertEquals(0.5, Luck.ofWorstLink(2, 2, 2), 1e-12);
    assertEquals(1, Luck.ofWorstLink(2, 2, 1), 1e-12);
    assertEquals(0, Luck.ofWorstLink(2, 2, 3), 1e-12);
  }

  /* The birthday problem: 23 people, 365 days. */
  @Test
  void amongTwentyThreePeopleTwoShareABirthdayHalfTheTime() {
    assertEquals(0.507297, Luck.ofWorstLink(23, 365, 2), 1e-6);
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
      assertEquals(bad / 729.0, Luck.ofWorstLink(6, 3, most), 1e-12, most + " and more");
    }
  }

  @Test
  void approximationForManyFlowsMeetsTheExactChance() {
    double exact = Luck.ofWorstLink(4096, 64, 86);
    double near = Luck.ofWorstLink(4097, 64, 86);
    assertTrue(exact > 0.1 && exact < 0.9, "a chance that tells something: " + exact);
    assertEquals(exact, near, 0.03);
  }

  @Test
  void expectedLinksInUse() {
    assertEquals(1, Luck.usedLinks(1, 7), 1e-12);
    assertEquals(1.5, Luck.usedLinks(2, 2), 1e-12);
    assertEquals(1, Luck.usedLinks(5, 1), 1e-12);
  }

  /* Two flows on two links are on one in half of all cases. */
  @Test
  void theBandHoldsWhatIsNeitherRareAboveNorBelow() {
    assertEquals(new Luck.Band(1, 2), Luck.ofWorstLinks(2, 2, 0.05));
    assertEquals(new Luck.Band(1, 1), Luck.ofWorstLinks(1, 5, 0.05));
    for (int flows : new int[] {6, 40, 300}) {
      Luck.Band band = Luck.ofWorstLinks(flows, 8, 0.05);
      assertTrue(Luck.ofWorstLink(flows, 8, band.most() + 1) <= 0.05, flows + ": " + band);
      assertTrue(Luck.ofWorstLink(flows, 8, band.most()) > 0.05, flows + ": " + band);
      assertTrue(1 - Luck.ofWorstLink(flows, 8, band.least() + 1) >= 0.05, flows + ": " + band);
      assertTrue(1 - Luck.ofWorstLink(flows, 8, band.least()) < 0.05, flows + ": " + band);
    }
  }
}
