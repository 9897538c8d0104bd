package io.heddle.tools.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Test of {@link ChaosSetting}, and of the text of {@link ChaosEvent}s. */
class ChaosSettingTest {
  private static final int GROUPS = 2_000;

  private static Stream<ChaosSetting> settings() {
    return LongStream.range(0, GROUPS).mapToObj(group -> ChaosSetting.of(group * 16));
  }

  @Test
  void settingsAreValidForThePlugin() {
    settings()
        .forEach(setting -> {
          assertTrue(
              setting.planes() >= 2 && setting.planes() <= ChaosSetting.MOST_PLANES,
              setting.describe());
          assertTrue(Set.of(1500, 9000).contains(setting.mtuBytes()), setting.describe());
          assertTrue(
              Set.of(ChaosSetting.SHORT_GRACE_MS, ChaosSetting.LONG_GRACE_MS)
                  .contains(setting.graceMs()),
              setting.describe());
        });
  }

  @Test
  void allPlaneCountsMtusAndGraceTimesOccur() {
    assertEquals(Set.of(2, 3, 4), settings().map(ChaosSetting::planes).collect(Collectors.toSet()));
    assertEquals(
        Set.of(1500, 9000), settings().map(ChaosSetting::mtuBytes).collect(Collectors.toSet()));
    assertEquals(2, settings().map(ChaosSetting::graceMs).distinct().count());
  }

  @Test
  void softFaultsAreRareAndReproducible() {
    for (ChaosSetting setting : settings().toList()) {
      if (setting.softFaults().isEmpty()) {
        continue;
      }
      assertTrue(setting.softFaults().contains(",seed="), setting.softFaults());
      for (String part : setting.softFaults().split(",")) {
        String name = part.substring(0, part.indexOf('='));
        double value = Double.parseDouble(part.substring(part.indexOf('=') + 1));
        if (Set.of("loss", "duplicate", "reorder", "corrupt", "ghost").contains(name)) {
          assertTrue(value > 0 && value <= 0.0102, part);
        }
      }
    }
  }

  @Test
  void environmentHasFaultsOnlyIfThereAreAny() {
    ChaosSetting clean = new ChaosSetting(0, 2, 1500, "hash", "", 1_000);
    assertEquals(
        Map.of("HEDDLE_POLICY", "hash", "HEDDLE_GRACE_MS", "1000", "HEDDLE_ROUTES_HOLD_MS", "1000"),
        clean.environment());
    ChaosSetting dirty = new ChaosSetting(0, 2, 1500, "hash", "loss=0.0010,seed=1", 1_000);
    assertEquals("loss=0.0010,seed=1", dirty.environment().get("HEDDLE_SOFT_FAULTS"));
  }

  @Test
  void fabricSettingHasGivenPlanesAndALongGraceTime() {
    for (long seed = 0; seed < 200; seed++) {
      ChaosSetting drawn = ChaosSetting.of(seed);
      ChaosSetting setting = ChaosSetting.onFabric(seed, 5, 4_000);
      assertEquals(5, setting.planes());
      assertEquals(4_000, setting.mtuBytes());
      assertEquals(ChaosSetting.LONG_GRACE_MS, setting.graceMs());
      assertEquals(drawn.policy(), setting.policy());
      assertEquals(drawn.softFaults(), setting.softFaults());
    }
  }

  @Test
  void eventTextHasTimeFaultPlaceAndDuration() {
    assertEquals(
        "50 ms: loss on a plane of 2.5 % on plane 3 at rank 1, 200 ms",
        new ChaosEvent(50, 200, ChaosFault.LOSS, 1, 2, 25).toString());
    assertEquals(
        "70 ms: plane narrowed to 5000 B on plane 1 at rank 0, 10 ms",
        new ChaosEvent(70, 10, ChaosFault.NARROWED, 0, 0, 5_000).toString());
    assertEquals(
        "9 ms: wall clock stepped by -86400 s at rank 0, 1 ms",
        new ChaosEvent(9, 1, ChaosFault.CLOCK_STEP, 0, 0, -86_400).toString());
    assertEquals(
        "9 ms: other path bandwidth of 40 Gbit/s on plane 2 at rank 0, 1 ms",
        new ChaosEvent(9, 1, ChaosFault.WEIGHT_CHANGE, 0, 1, 40).toString());
    assertEquals(
        "9 ms: peer killed at rank 1, for good",
        new ChaosEvent(9, ChaosEvent.FOR_EVER, ChaosFault.KILLED_PEER, 1, 0, 0).toString());
  }

  @ParameterizedTest
  @EnumSource(ChaosFault.class)
  void onlyKillAndPermanentLossOfAllPlanesAreFatal(ChaosFault fault) {
    ChaosEvent lasting = new ChaosEvent(10, ChaosEvent.FOR_EVER, fault, 0, 0, 0);
    ChaosEvent passing = new ChaosEvent(10, 20, fault, 0, 0, 0);
    boolean kills = fault == ChaosFault.KILLED_PEER;
    assertEquals(kills || fault.affectsAllPlanes(), lasting.isFatal());
    assertEquals(kills, passing.isFatal());
    assertEquals(30, passing.endMs());
    assertTrue(lasting.endMs() > Integer.MAX_VALUE, "the sum doesn't wrap");
  }

  @ParameterizedTest
  @EnumSource(ChaosFault.class)
  void faultAffectsOnePlaneOrAllOrAProcess(ChaosFault fault) {
    int kinds = 0;
    for (boolean reach : List.of(fault.hasPlane(), fault.affectsAllPlanes(), fault.isOfProcess())) {
      kinds += reach ? 1 : 0;
    }
    assertEquals(fault.reach() == ChaosFault.Reach.FABRIC_HOST ? 0 : 1, kinds);
    assertFalse(fault.text().isBlank());
  }
}
