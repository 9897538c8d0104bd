package io.heddle.tools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ChaosPlanTest {
  private static final int SEEDS = 2_000;

  @Test
  void aSeedSaysEverything() {
    assertEquals(ChaosPlan.of(77), ChaosPlan.of(77));
    assertNotEquals(ChaosPlan.of(77), ChaosPlan.of(78));
  }

  @Test
  void onePlaneIsNeverTouched() {
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      Set<Integer> cut = new HashSet<>();
      for (ChaosPlan.Event event : plan.events()) {
        assertTrue(event.plane() < plan.planes(), plan.describe());
        if (event.fault().takesPlane()) {
          cut.add(event.plane());
        }
      }
      assertTrue(cut.size() < plan.planes(), plan.describe());
    }
  }

  @Test
  void everyFaultComesUpAndSoDoRunsWithoutAny() {
    Set<ChaosFault> seen = EnumSet.noneOf(ChaosFault.class);
    boolean quiet = false;
    boolean ghosts = false;
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      plan.events().forEach(event -> seen.add(event.fault()));
      quiet |= plan.events().isEmpty() && plan.softFaults().isEmpty();
      ghosts |= plan.softFaults().contains("ghost=");
    }
    assertEquals(EnumSet.allOf(ChaosFault.class), seen);
    assertTrue(quiet && ghosts);
  }

  @Test
  void aPlaneAtOneHostHasOneFaultAtATime() {
    for (long seed = 0; seed < SEEDS; seed++) {
      ChaosPlan plan = ChaosPlan.of(seed);
      for (ChaosPlan.Event one : plan.events()) {
        for (ChaosPlan.Event other : plan.events()) {
          boolean together =
              one != other
                  && one.rank() == other.rank()
                  && one.plane() == other.plane()
                  && one.atMs() <= other.atMs()
                  && other.atMs() <= one.atMs() + one.forMs();
          assertFalse(together, plan.describe());
        }
      }
    }
  }
}
