package io.heddle.transport.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.transport.Ends;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.device.LocalPlane;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Planes are written as "key" or "key/own key". */
class PlanePairingTest {
  private static final Gid ADDRESS = Ends.gid("127.0.0.1");

  private static List<LocalPlane> mine(String... planes) {
    List<LocalPlane> all = new ArrayList<>();
    for (String plane : planes) {
      String[] keys = plane.split("/");
      all.add(new LocalPlane(keys[0], keys[keys.length - 1], ADDRESS, PathMtu.MTU_4096, "e0"));
    }
    return all;
  }

  private static List<PlaneOffer> theirs(String... planes) {
    return mine(planes).stream()
        .map(plane -> new PlaneOffer(plane.key(), plane.ownKey(), plane.gid(), plane.mtu()))
        .toList();
  }

  private static String[] split(String planes) {
    return planes.isEmpty() ? new String[0] : planes.split(" ");
  }

  /* name:mine=theirs of each pair, as this end and the other have it. */
  private static PlanePairing assertPairs(String here, String there, String... pairs) {
    PlanePairing pairing = PlanePairing.of(mine(split(here)), theirs(split(there)));
    assertEquals(
        List.of(pairs),
        pairing.pairs().stream()
            .map(pair -> pair.name() + " " + pair.mine().key() + "=" + pair.theirs().key())
            .toList());
    PlanePairing other = PlanePairing.of(mine(split(there)), theirs(split(here)));
    assertEquals(
        List.of(pairs),
        other.pairs().stream()
            .map(pair -> pair.name() + " " + pair.theirs().key() + "=" + pair.mine().key())
            .toList(),
        "the other end pairs alike");
    return pairing;
  }

  @Test
  void equalKeysPairWhateverTheirOrderAndOwnNames() {
    PlanePairing pairing =
        assertPairs(
            "colour:1/subnet:0001 colour:2/subnet:0002",
            "colour:2/subnet:0001 colour:1/subnet:0002 if:mgmt",
            "colour:1 colour:1=colour:1",
            "colour:2 colour:2=colour:2");
    assertEquals(List.of("if:mgmt (there only)"), pairing.leftOut());
    assertEquals("", pairing.byOwnNames());
  }

  @Test
  void planesThatOnlyOneEndsDaemonNamesPairByTheirNamesWithoutIt() {
    PlanePairing pairing =
        assertPairs(
            "colour:7/subnet:0002 colour:9/subnet:0001",
            "subnet:0001 subnet:0002",
            "subnet:0001 colour:9=subnet:0001",
            "subnet:0002 colour:7=subnet:0002");
    assertEquals(List.of(), pairing.leftOut());
    assertTrue(
        pairing.byOwnNames().contains("colour:7 is subnet:0002 there"), pairing.byOwnNames());
    assertTrue(pairing.byOwnNames().contains("only this host's daemon"), pairing.byOwnNames());
    assertPairs("plane:a/if:e1 plane:b/if:e2", "if:e2 if:e3", "if:e2 plane:b=if:e2");
  }

  @Test
  void aDaemonThatKnowsOnePlaneYetLeavesTheOthersPaired() {
    assertPairs(
        "colour:1/subnet:0001 colour:2/subnet:0002",
        "colour:1/subnet:0001 subnet:0002",
        "colour:1 colour:1=colour:1",
        "subnet:0002 colour:2=subnet:0002");
  }

  @Test
  void twoDaemonsThatDisagreeMeanDifferentPlanes() {
    PlanePairing pairing = assertPairs("colour:1/subnet:0001", "colour:2/subnet:0001");
    assertEquals(List.of("colour:1 (here only)", "colour:2 (there only)"), pairing.leftOut());
    String refusal = pairing.refusal("h2", mine("colour:1/subnet:0001"), theirs("colour:2/if:e1"));
    assertEquals(
        "no plane is common with h2: here [colour:1 (else subnet:0001)], there [colour:2 (else"
            + " if:e1)]; the route daemons of both ends name different planes: compare heddle bgp"
            + " show neighbours on both",
        refusal);
  }

  @Test
  void planesWithoutACommonNameAreRefusedWithWhatToDo() {
    PlanePairing pairing = assertPairs("colour:1/subnet:0001", "if:e1 if:e2");
    String refusal = pairing.refusal("h2", mine("colour:1/subnet:0001"), theirs("if:e1", "if:e2"));
    assertTrue(
        refusal.contains("only here a route daemon names the planes")
            && refusal.contains("run one on both ends")
            && refusal.contains("HEDDLE_PLANES on both"),
        refusal);
    refusal = pairing.refusal("h2", mine("subnet:0001"), theirs("if:e1"));
    assertTrue(refusal.contains("give them common names with HEDDLE_PLANES on both ends"), refusal);
  }

  @Test
  void twoPlanesOfThePeerOnOneAddressAreRefusedByTheirNames() {
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () -> PlanePairing.requireAddressesOfTheirOwn("host-b", theirs("if:e1", "if:e2")));
    assertEquals(
        "host-b has planes if:e1 and if:e2 both on address 127.0.0.1; give each plane an"
            + " address of its own",
        refused.getMessage());
    PlanePairing.requireAddressesOfTheirOwn("host-b", theirs("if:e1"));
  }
}
