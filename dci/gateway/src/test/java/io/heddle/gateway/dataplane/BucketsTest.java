package io.heddle.gateway.dataplane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class BucketsTest {
  private static final Map<Integer, Integer> WEIGHTS = Map.of(1, 1, 2, 2, 3, 1);

  @Test
  void listsHaveBucketsByTheirWeights() {
    assertEquals(
        Map.of(1, 64, 2, 128, 3, 64), Buckets.ofWeights(WEIGHTS, WEIGHTS.keySet()).counts());
    assertEquals(
        Map.of(7, 86, 8, 85, 9, 85),
        Buckets.ofWeights(Map.of(7, 1, 8, 1, 9, 1), Set.of(7, 8, 9)).counts());
  }

  @Test
  void onlyTheBucketsOfADeadListChange() {
    Buckets before = Buckets.ofWeights(WEIGHTS, WEIGHTS.keySet());
    Buckets after = Buckets.ofWeights(WEIGHTS, Set.of(1, 3));
    for (int bucket = 0; bucket < FlowHash.BUCKETS; bucket++) {
      if (before.list(bucket) == 2) {
        assertNotEquals(2, after.list(bucket));
      } else {
        assertEquals(before.list(bucket), after.list(bucket), "bucket " + bucket);
      }
    }
    /*
     * The dead list's buckets are lent to two lists of equal weight, so each list has about 128.
     * With a fair coin, a difference of 40 has a probability of 10^-12.
     */
    assertTrue(Math.abs(after.counts().get(1) - 128) < 40, after.toString());
  }

  @Test
  void secondDeathChangesNoBucketOfALivingList() {
    Buckets before = Buckets.ofWeights(WEIGHTS, Set.of(1, 3));
    Buckets after = Buckets.ofWeights(WEIGHTS, Set.of(3));
    for (int bucket = 0; bucket < FlowHash.BUCKETS; bucket++) {
      if (before.list(bucket) == 3) {
        assertEquals(3, after.list(bucket));
      }
    }
    assertEquals(Map.of(3, 256), after.counts());
  }

  @Test
  void bucketsAreEmptyWithoutALivingList() {
    assertEquals(Map.of(0, 256), Buckets.ofWeights(WEIGHTS, Set.of()).counts());
  }
}
