package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Test of SprayLink's three steps: detection, selection among the better half, correction. */
final class SprayHashTest {
  private static Set<Integer> reachable(SprayHash spray) {
    Set<Integer> found = new TreeSet<>();
    for (int hash = 0; hash < 0x10000; hash++) {
      found.add(spray.select(hash));
    }
    return found;
  }

  @Test
  void onlyTheBetterHalfIsSelected() {
    SprayHash spray = new SprayHash(1, 1, 1, 1);
    spray.detect(new double[] {900, 100, 800, 200}, new double[4]);
    assertEquals(Set.of(1, 3), reachable(spray));
    assertEquals(1, spray.select(0), "the least loaded first");
  }

  @Test
  void queuesWeighLikeBytes() {
    SprayHash spray = new SprayHash(1, 1, 1, 1);
    spray.detect(new double[] {100, 100, 100, 100}, new double[] {0, 50, 0, 50});
    assertEquals(Set.of(0, 2), reachable(spray));
  }

  @Test
  void bytesOfASlowLinkWeighMore() {
    SprayHash spray = new SprayHash(1, 0.25);
    spray.detect(new double[] {100, 50}, new double[2]);
    assertEquals(Set.of(0), reachable(spray));
  }

  @Test
  void loadsDecaySlowly() {
    SprayHash spray = new SprayHash(1, 1);
    spray.detect(new double[] {1000, 0}, new double[2]);
    assertEquals(1, spray.select(0));
    int intervals = 0;
    while (spray.select(0) == 1) {
      spray.detect(new double[] {0, 100}, new double[2]);
      intervals++;
    }
    assertEquals(5, intervals, "1000 · 0.25 · 0.75^n falls below 100 · (1 − 0.75^n)");
  }

  @Test
  void downMemberIsNeverSelected() {
    SprayHash spray = new SprayHash(1, 1, 1, 1);
    spray.setDown(0, true);
    spray.setDown(1, true);
    spray.setDown(2, true);
    assertEquals(Set.of(3), reachable(spray));
    spray.setDown(0, false);
    spray.setDown(1, false);
    assertEquals(Set.of(0, 1), reachable(spray), "two of the three that are up");
  }

  @Test
  void longWaitIsCorrectedToTheBest() {
    SprayHash spray = new SprayHash(1, 1, 1, 1);
    spray.detect(new double[] {1, 2, 3, 4}, new double[4]);
    int second = spray.select(1);
    assertEquals(1, second);
    double[] nearly = {0, 500, 0, 0};
    assertEquals(1, spray.select(1, nearly, 1000), "half a packet behind isn't more");
    double[] behind = {0, 501, 0, 0};
    assertEquals(0, spray.select(1, behind, 1000));
  }

  @Test
  void bestMemberIsChosenFromAllThatAreUp() {
    SprayHash spray = new SprayHash(1, 1, 1, 1);
    spray.detect(new double[] {1, 2, 3, 4}, new double[4]);
    double[] drained = {900, 900, 0, 0};
    assertEquals(2, spray.select(0, drained, 1000), "the first of two that are as good");
    spray.setDown(2, true);
    assertEquals(3, spray.select(0, drained, 1000));
    spray.setDown(3, true);
    assertEquals(spray.select(0), spray.select(0, drained, 1000));
  }

  @Test
  void slowMemberIsBestOnlyIfItWouldFinishFirst() {
    SprayHash spray = new SprayHash(0.25, 1);
    spray.detect(new double[] {0, 1}, new double[2]);
    assertEquals(0, spray.select(0), "it is the less loaded one");
    assertEquals(1, spray.select(0, new double[] {0, 2_000}, 1000), "4 s there, 3 s here");
    assertEquals(0, spray.select(0, new double[] {0, 3_000}, 1000), "4 s at either");
  }

  @Test
  void membersHaveCapacity() {
    assertThrows(IllegalArgumentException.class, () -> new SprayHash(1, 0));
  }
}
