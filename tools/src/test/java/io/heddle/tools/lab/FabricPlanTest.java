package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Test of the limits within which plans of fabrics and labs are valid. */
class FabricPlanTest {
  private static final long RATE = 1_000_000_000L;

  /* Returns a plan in which one value is replaced; all others are valid. */
  private static FabricPlan with(String what, int value) {
    int spines = what.equals("spines") ? value : 2;
    int links = what.equals("links") ? value : 1;
    int planes = Math.max(spines * links, 0);
    return new FabricPlan(
        FabricShape.LEAF_SPINE,
        spines,
        links,
        what.equals("leaves") ? value : 2,
        what.equals("hosts") ? value : 2,
        Collections.nCopies(planes, RATE),
        Collections.nCopies(planes, 100),
        what.equals("mtu") ? value : 9_000,
        what.equals("queue") ? value : 100,
        what.equals("hold") ? value : 9,
        what.equals("bfd") ? value : 0,
        false);
  }

  private static FabricPlan separate(int spines, int planes) {
    return new FabricPlan(
        FabricShape.PLANES,
        spines,
        1,
        planes,
        2,
        Collections.nCopies(planes, RATE),
        Collections.nCopies(planes, 100),
        9_000,
        100,
        9,
        0,
        false);
  }

  private static FabricPlan rated(List<Long> rates, List<Integer> bandwidths) {
    return new FabricPlan(
        FabricShape.LEAF_SPINE, 2, 1, 2, 2, rates, bandwidths, 9_000, 100, 9, 0, false);
  }

  private static String refusal(org.junit.jupiter.api.function.Executable making) {
    return String.valueOf(assertThrows(IllegalArgumentException.class, making).getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "hosts,  1,    64,     hosts",
    "leaves, 1,    32,     leaves",
    "links,  1,    8,      links per spine",
    "mtu,    1280, 65535,  MTU",
    "queue,  1,    10000,  queue",
    "hold,   3,    3600,   hold time",
    "bfd,    0,    10000,  BFD interval",
    "spines, 1,    32,     spines"
  })
  void valuesAreAcceptedWithinTheirLimitsOnly(String what, int least, int most, String name) {
    with(what, least);
    with(what, most);
    assertEquals(
        name + " " + (least - 1) + " is not in " + least + " to " + most,
        refusal(() -> with(what, least - 1)));
    assertEquals(
        name + " " + (most + 1) + " is not in " + least + " to " + most,
        refusal(() -> with(what, most + 1)));
  }

  @Test
  void separatePlanesHaveOneLeafEachAndNoSpines() {
    assertEquals(32, separate(0, 32).planes());
    assertEquals("leaves 33 is not in 1 to 32", refusal(() -> separate(0, 33)));
    assertEquals("spines 1 is not in 0 to 0", refusal(() -> separate(1, 2)));
  }

  @Test
  void spinesTimesLinksIsLimitedByThePlanes() {
    int planes = 40;
    assertEquals(
        "planes 40 is not in 1 to 32",
        refusal(() ->
            new FabricPlan(
                FabricShape.LEAF_SPINE,
                5,
                8,
                2,
                2,
                Collections.nCopies(planes, RATE),
                Collections.nCopies(planes, 1),
                9_000,
                100,
                9,
                0,
                false)));
  }

  @Test
  void eachPlaneHasOneRateAndOneBandwidth() {
    String rest = " path bandwidths for 2 planes; give one of each per plane";
    assertEquals("1 rates and 2" + rest, refusal(() -> rated(List.of(RATE), List.of(1, 1))));
    assertEquals(
        "2 rates and 3" + rest, refusal(() -> rated(List.of(RATE, RATE), List.of(1, 1, 1))));
  }

  @ParameterizedTest
  @ValueSource(longs = {FabricPlan.MIN_RATE - 1, FabricPlan.MAX_RATE + 1, 0, -1})
  void invalidRateIsRejectedOnAnyPlane(long rate) {
    assertTrue(
        refusal(() -> rated(List.of(RATE, rate), List.of(1, 1)))
            .startsWith("rate in bit/s " + rate + " is not in 1000000 to 100000000000"));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, FabricPlan.MAX_BANDWIDTH_GBPS + 1})
  void bandwidthBeyondTheCommunityIsRejected(int gbps) {
    assertTrue(
        refusal(() -> rated(List.of(RATE, RATE), List.of(1, gbps)))
            .startsWith("path bandwidth in Gbit/s " + gbps + " is not in 1 to 65535"));
  }

  @Test
  void withRateChangesOnePlane() {
    FabricPlan plan = with("", 0);
    FabricPlan changed = plan.withRate(2, 5_000_000, 7);
    assertEquals(RATE, changed.rate(1));
    assertEquals(100, changed.bandwidth(1));
    assertEquals(5_000_000, changed.rate(2));
    assertEquals(7, changed.bandwidth(2));
    assertEquals(plan, changed.withRate(2, RATE, 100));
  }

  @Test
  void planCopiesItsLists() {
    List<Long> rates = new ArrayList<>(List.of(RATE, RATE));
    FabricPlan plan = rated(rates, List.of(1, 1));
    rates.set(0, 1L);
    assertEquals(RATE, plan.rate(1));
  }

  @Test
  void shapesAreParsedInAnyCase() {
    assertEquals(FabricShape.LEAF_SPINE, FabricShape.named("leaf-spine"));
    assertEquals(FabricShape.PLANES, FabricShape.named("Planes"));
    assertEquals(
        "'ring' is not a shape of a fabric: use leaf-spine or planes",
        refusal(() -> FabricShape.named("ring")));
  }

  @ParameterizedTest
  @CsvSource({"0, 1, 1500", "251, 1, 1500", "2, 0, 1500", "2, 251, 1500"})
  void labHasOneTo250RanksAndPlanes(int ranks, int planes, int mtu) {
    assertEquals(
        ranks + " ranks with " + planes + " planes: each must be in 1 to 250",
        refusal(() -> new LabPlan(ranks, planes, mtu)));
  }

  @ParameterizedTest
  @ValueSource(ints = {1279, 65_536})
  void labMtuIsAtLeastTheMinimumOfIpv6(int mtu) {
    assertEquals("MTU " + mtu + " is not in 1280 to 65535", refusal(() -> new LabPlan(2, 2, mtu)));
  }

  @Test
  void labAddressesFollowFromMacsAndAreUnique() {
    new LabPlan(250, 250, 1280);
    assertEquals("e1", LabPlan.interfaceName(0));
    assertEquals("02:00:00:00:03:02", LabPlan.macAddress(1, 2));
    assertEquals("fd00:1:1:3:0:ff:fe00:302", LabPlan.address(1, 2));
    assertEquals("127.0.2.3", LabPlan.loopbackAddress(1, 2));
    List<String> all = new ArrayList<>();
    for (int rank = 0; rank < 250; rank++) {
      for (int plane = 0; plane < 250; plane += 7) {
        all.add(LabPlan.address(rank, plane));
        all.add(LabPlan.loopbackAddress(rank, plane));
      }
    }
    assertEquals(all.size(), all.stream().distinct().count());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "A", "1a", "a-b", "abcdefghijklm", "../x", "a b"})
  void nameThatEscapesItsFolderIsRejected(String name) {
    LabException refused = assertThrows(LabException.class, () -> new FabricFolder(name));
    assertTrue(String.valueOf(refused.getMessage()).contains("can't name a lab"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "lab1", "abcdefghijkl"})
  void nameOfTwelveLettersAndDigitsIsAccepted(String name) {
    FabricFolder folder = new FabricFolder(name);
    assertEquals("/run/heddle-lab/" + name + "/l1.conf", folder.file("l1.conf").toString());
  }

  @Test
  void stateCopiesChangeOneField() {
    FabricPlan plan = with("", 0);
    FabricState state = new FabricState("a", 7, "now", false, plan, List.of());
    FabricPlan other = plan.withRate(1, 2_000_000, 1);
    assertEquals(new FabricState("a", 7, "now", true, plan, List.of()), state.completed());
    assertEquals(new FabricState("a", 7, "now", false, other, List.of()), state.withPlan(other));
    assertEquals(
        new FabricState("a", 7, "now", false, plan, List.of("1/fd00::1")),
        state.withUnreachable(List.of("1/fd00::1")));
  }
}
