package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.lab.FabricTopology.End;
import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Test of the commands and environment variables of labs, without creating one. */
class LabEnvironmentTest {
  private static final End END = new End(new Node(Role.LEAF, 1), "s2");

  private static FabricLinks links() {
    return new FabricLinks(FabricTopologyTest.leafSpine(2, 1, 2, 2, false), "x");
  }

  @Test
  void loopbackHostGetsItsPlanesByEnvironment() {
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 3, 1_500));
    assertEquals(
        Map.of("HEDDLE_PLANES", "127.0.2.1=1,127.0.2.2=2,127.0.2.3=3"), lab.environment(1));
    assertEquals(List.of("true"), lab.command(1, List.of("true")), "unchanged: there are no hosts");
    assertEquals(List.of(), lab.sentBytesByPlane(), "planes share an interface");
    lab.close();
  }

  @Test
  void planesOnLoopbackCannotBeCut() {
    Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 2, 1_500));
    LabException refused = assertThrows(LabException.class, () -> new PlaneFaults(lab));
    assertEquals(
        "planes on loopback addresses can't be cut; use network namespaces", refused.getMessage());
  }

  @Test
  void loopbackIsAlwaysAllowed() {
    assertTrue(Labs.refusal(Lab.Kind.LOOPBACK).isEmpty());
  }

  @Test
  void commandInAUserNamespaceKeepsItsArguments() {
    List<String> whole = Labs.userNamespaceCommand(List.of("heddle", "demo", "--planes", "a b"));
    assertEquals("unshare", whole.getFirst());
    assertEquals(
        List.of("sh", "heddle", "demo", "--planes", "a b"),
        whole.subList(whole.size() - 5, whole.size()),
        "each one separately after the script");
  }

  @Test
  void namespacesOfAFabricHaveItsNameAsPrefix() {
    assertEquals("heddle-x-s2", links().namespace(new Node(Role.SPINE, 2)));
    assertEquals(
        List.of("ip", "netns", "exec", "heddle-x-h1", "ping", "-c1", "::1"),
        links().inside(new Node(Role.HOST, 1), List.of("ping", "-c1", "::1")));
  }

  /* A segment train has 64 KiB. A smaller burst size would split it. */
  @ParameterizedTest
  @CsvSource({
    "1000000,      131072,  393216",
    "1000000000,   131072,  12631072",
    "100000000000, 6250000, 1256250000"
  })
  void burstFitsASegmentTrainAndQueueFollowsThePlan(long own, long burst, long limit) {
    FabricPlan plan = FabricTopologyTest.leafSpine(2, 1, 2, 2, false).plan();
    FabricLinks links = new FabricLinks(new FabricTopology(plan.withRate(1, own, 1)), "x");
    assertEquals(
        "qdisc replace dev s2 root tbf rate 200000bit burst " + burst + " limit " + limit,
        links.shaping(END, 1, 200_000),
        "the queue stays that of the plane's own rate");
  }

  @Test
  void eachLinkHasASeparateTableForSilentCuts() {
    List<Link> trunks = FabricTopologyTest.leafSpine(3, 2, 2, 2, false).trunks();
    List<String> ofOneLeaf =
        trunks.stream()
            .filter(link -> link.leaf().node().number() == 1)
            .map(FabricLinks::table)
            .toList();
    assertEquals(6, ofOneLeaf.size());
    assertEquals(6, ofOneLeaf.stream().distinct().count(), ofOneLeaf.toString());
  }
}
