package io.heddle.tools.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.job.PolicyName;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class ChaosPlanTest {
  private static final int SEEDS = 3_000;

  /** Faults during which the affected plane carries nothing. */
  private static final Set<ChaosFault> TAKING =
      EnumSet.of(ChaosFault.CARRIER_CUT, ChaosFault.SILENT_CUT, ChaosFault.ADDRESS_REMOVED);

  private static Stream<ChaosPlan> plans() {
    return LongStream.range(0, SEEDS).mapToObj(ChaosPlan::of);
  }

  private static Stream<ChaosPlan> fabricPlans() {
    return LongStream.range(0, SEEDS).mapToObj(seed -> ChaosPlan.onFabric(seed, 3, 9000));
  }

  @Test
  void planFollowsFromTheSeed() {
    assertEquals(ChaosPlan.of(77), ChaosPlan.of(77));
    assertNotEquals(ChaosPlan.of(77), ChaosPlan.of(78));
  }

  @Test
  void seedsOfAGroupShareTheirSetting() {
    plans()
        .forEach(plan -> {
          long first = plan.seed() / ChaosSetting.GROUP * ChaosSetting.GROUP;
          assertEquals(ChaosPlan.of(first).setting(), plan.setting());
        });
  }

  @Test
  void continuingRunIsWithoutPlaneForLessThanTheGraceTime() {
    plans()
        .filter(plan -> plan.fatal() == null)
        .forEach(plan -> {
          Set<Integer> cut = new HashSet<>();
          for (ChaosEvent event : plan.events()) {
            assertTrue(event.plane() < plan.setting().planes(), plan.describe());
            if (event.fault().affectsAllPlanes()) {
              assertTrue(2 * event.forMs() < plan.setting().graceMs(), plan.describe());
            } else if (TAKING.contains(event.fault())) {
              cut.add(event.plane());
            }
          }
          assertTrue(cut.size() < plan.setting().planes(), plan.describe());
        });
  }

  /*
   * A busy host may resume a stopped rank later than a short grace time allows, and the run would
   * fail.
   */
  @Test
  void noRankIsStoppedWithAShortGraceTime() {
    plans()
        .filter(plan -> plan.setting().graceMs() == ChaosSetting.SHORT_GRACE_MS)
        .forEach(plan ->
            assertTrue(
                plan.events().stream().noneMatch(event -> event.fault() == ChaosFault.STOPPED_PEER),
                plan.describe()));
  }

  @Test
  void allFaultsAndRunsWithoutFaultsOccur() {
    Set<ChaosFault> seen = EnumSet.noneOf(ChaosFault.class);
    Stream.concat(plans(), fabricPlans())
        .flatMap(plan -> plan.events().stream())
        .forEach(event -> seen.add(event.fault()));
    assertEquals(EnumSet.allOf(ChaosFault.class), seen);
    assertTrue(plans().anyMatch(plan -> plan.events().isEmpty()));
    assertTrue(plans().anyMatch(plan -> plan.setting().softFaults().contains("ghost=")));
    for (boolean forGood : List.of(false, true)) {
      assertTrue(
          plans()
              .flatMap(plan -> plan.events().stream())
              .anyMatch(event -> event.fault().affectsAllPlanes() && event.isFatal() == forGood));
    }
  }

  @Test
  void seedsChooseAmongAllPoliciesOnFabrics() {
    Set<String> all = new HashSet<>();
    for (PolicyName policy : PolicyName.values()) {
      all.add(policy.toString());
    }
    for (Stream<ChaosPlan> drawn : List.of(plans(), fabricPlans())) {
      assertEquals(all, drawn.map(plan -> plan.setting().policy()).collect(Collectors.toSet()));
    }
  }

  @Test
  void underChangesOnlyThePolicy() {
    ChaosPlan plan = ChaosPlan.of(77);
    ChaosPlan other = plan.withPolicy("pinned");
    assertNotEquals(plan, other);
    assertTrue(other.describe().contains(", pinned, "), other.describe());
    assertEquals(plan, other.withPolicy(plan.setting().policy()));
  }

  @Test
  void fatalFaultIsTheLast() {
    Stream.concat(plans(), fabricPlans())
        .filter(plan -> plan.fatal() != null)
        .forEach(plan -> assertEquals(plan.events().getLast(), plan.fatal(), plan.describe()));
  }

  @Test
  void planeAtAHostHasOneFaultAtATime() {
    plans()
        .forEach(plan -> {
          for (ChaosEvent one : plan.events()) {
            for (ChaosEvent other : plan.events()) {
              boolean together =
                  one != other
                      && one.fault().hasPlane()
                      && other.fault().hasPlane()
                      && one.rank() == other.rank()
                      && one.plane() == other.plane()
                      && one.atMs() <= other.atMs()
                      && other.atMs() <= one.endMs();
              assertFalse(together, plan.describe());
            }
          }
        });
  }
}
