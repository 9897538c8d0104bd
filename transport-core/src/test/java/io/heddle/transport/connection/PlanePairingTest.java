package io.heddle.transport.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.Ends;
import io.heddle.transport.control.ControlMessage.PlaneList;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.control.NamespaceId;
import io.heddle.transport.device.LocalPlane;
import io.heddle.verbs.PathMtu;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests of {@link PlanePairing} and its log lines. A plane is written as "key[/own
 * key][@address[/length]%interface]". A plane without an address, like one in a pod, has no marks
 * but its keys.
 */
class PlanePairingTest {
  private static final long ELSEWHERE = NamespaceId.ID + 1;

  private static List<LocalPlane> mine(String planes) {
    List<LocalPlane> all = new ArrayList<>();
    for (String plane : planes.split(" ")) {
      String[] parts = plane.split("[@%]");
      String[] keys = parts[0].split("/");
      String[] address = (parts.length > 1 ? parts[1] : "127.0.0.1/32").split("/");
      all.add(
          new LocalPlane(
              keys[0],
              keys[keys.length - 1],
              Ends.gid(address[0]),
              Integer.parseInt(address[1]),
              PathMtu.MTU_4096,
              parts.length > 2 ? parts[2] : ""));
    }
    return all;
  }

  private static List<PlaneOffer> offers(String planes) {
    return mine(planes).stream()
        .map(plane ->
            new PlaneOffer(
                plane.key(),
                plane.ownKey(),
                plane.gid(),
                plane.prefixLength(),
                plane.interfaceName(),
                plane.mtu()))
        .toList();
  }

  private static PlanePairing pairing(String here, String there, long namespace) {
    return PlanePairing.of(mine(here), new PlaneList("h2", namespace, 1, offers(there)));
  }

  /* Asserts the pairs, each written as name:mine=theirs, as seen from both ends. */
  private static PlanePairing assertPairs(String here, String there, String... pairs) {
    PlanePairing pairing = pairing(here, there, NamespaceId.ID);
    assertEquals(
        List.of(pairs),
        pairing.pairs().stream()
            .map(pair -> pair.name() + " " + pair.mine().key() + "=" + pair.theirs().key())
            .toList());
    assertEquals(
        List.of(pairs),
        pairing(there, here, NamespaceId.ID).pairs().stream()
            .map(pair -> pair.name() + " " + pair.theirs().key() + "=" + pair.mine().key())
            .toList(),
        "the other end pairs alike");
    return pairing;
  }

  private static List<String> logOf(PlanePairing pairing) {
    List<String> lines = new ArrayList<>();
    Log log = (level, sentence) -> lines.add(level + " " + sentence);
    pairing.logDifferences("h2", log);
    return lines;
  }

  @Test
  void equalKeysPairInAnyOrderAndDespiteOwnNames() {
    PlanePairing pairing =
        assertPairs(
            "colour:1/subnet:0001 colour:2/subnet:0002",
            "colour:2/subnet:0001 colour:1/subnet:0002 if:mgmt@fd00::1/64%mgmt",
            "colour:1 colour:1=colour:1",
            "colour:2 colour:2=colour:2");
    assertEquals(
        List.of(
            "INFO connection with h2 uses planes [colour:1, colour:2]; left out: if:mgmt (fd00::/64"
                + " on mgmt) there only"),
        logOf(pairing));
  }

  @Test
  void planesNamedByOneDaemonPairByTheirOwnNames() {
    PlanePairing pairing =
        assertPairs(
            "colour:7/subnet:0002 colour:9/subnet:0001",
            "subnet:0001 subnet:0002",
            "subnet:0001 colour:9=subnet:0001",
            "subnet:0002 colour:7=subnet:0002");
    assertEquals(
        List.of(
            "WARN connection with h2: planes have other keys there, since only this host's daemon"
                + " had named them when its job began:"
                + " colour:9 is subnet:0001 there (by key), colour:7 is subnet:0002 there (by key);"
                + " run a daemon on both for weights both ways"),
        logOf(pairing));
    assertPairs(
        "plane:a/if:e1@fd00:1:1:1::1/64%e1 plane:b/if:e2@fd00:1:1:2::1/64%e2",
        "if:e2@fd00:1:7:8::1/64%e2 if:e3@fd00:1:7:9::1/64%e3", "if:e2 plane:b=if:e2");
  }

  @Test
  void otherPlanesPairIfADaemonKnowsOnlyOne() {
    assertPairs(
        "colour:1/subnet:0001 colour:2/subnet:0002",
        "colour:1/subnet:0001 subnet:0002",
        "colour:1 colour:1=colour:1",
        "subnet:0002 colour:2=subnet:0002");
  }

  @Test
  void planesPairedUnderOtherKeysAreReportedWithTheirMark() {
    PlanePairing pairing =
        assertPairs(
            "if:e1@fd00:1:1:1::1/64%e1 if:e2@fd00:1:1:2::1/64%e2",
            "subnet:0002@fd00:1:1:2::2/64%e2", "net:fd00:1:1:2::/64 if:e2=subnet:0002");
    assertEquals(
        List.of(
            "INFO connection with h2 uses planes [if:e2]; if:e2 is subnet:0002 there (by prefix);"
                + " left out: if:e1 (fd00:1:1:1::/64 on e1) here only"),
        logOf(pairing));
  }

  @Test
  void addressOfBothHostsIsNoPlaneAndIsReported() {
    String docker = "if:br0@172.17.0.1/16%br0";
    PlanePairing pairing =
        pairing(docker + " if:e1@10.0.1.1/24%e1", docker + " if:e1@10.0.1.2/24%e1", ELSEWHERE);
    assertEquals(List.of("if:e1"), pairing.pairs().stream().map(PlanePairing.Pair::name).toList());
    assertEquals(
        List.of(
            "INFO connection with h2 uses planes [if:e1]; no planes, since both hosts have their"
                + " addresses: if:br0 on 172.17.0.1"),
        logOf(pairing));
    assertTrue(
        pairing(docker, docker, ELSEWHERE)
            .describeMismatch("h2")
            .contains("; no planes, since both hosts have their addresses: if:br0 on 172.17.0.1;"));
    assertPairs(docker, docker, "if:br0 if:br0=if:br0");
  }

  @Test
  void disagreeingDaemonsMeanDifferentPlanes() {
    PlanePairing pairing =
        assertPairs("colour:1/subnet:0001@fd00::1/64%e1", "colour:2/subnet:0001@fd00::2/64%e1");
    assertEquals(
        "no plane is common with h2: here [colour:1 (else subnet:0001, fd00::/64 on e1)], there"
            + " [colour:2 (else subnet:0001, fd00::/64 on e1)]; the route daemons of both ends"
            + " name different planes: compare heddle bgp show neighbours on both",
        pairing.describeMismatch("h2"));
  }

  @Test
  void planesWithoutACommonMarkAreRefusedWithARemedy() {
    String refusal =
        assertPairs(
                "colour:1/subnet:0001@fd00:1:1:1::1/64%a",
                "if:e1@fd00:2:2:8::1/64%e1 if:e2@fd00:2:2:9::1/64%e2")
            .describeMismatch("h2");
    assertTrue(
        refusal.contains("only here a route daemon names the planes")
            && refusal.contains("run one on both ends")
            && refusal.contains("HEDDLE_PLANES on both"),
        refusal);
    refusal =
        assertPairs("subnet:0001@fd00::1/64%a", "if:e1@10.0.0.1/24%b if:e2@10.0.1.1/24%c")
            .describeMismatch("h2");
    assertTrue(refusal.contains("neither prefix, network, key, low bits nor interface"), refusal);
    refusal = assertPairs("plane:a", "plane:b").describeMismatch("h2");
    assertTrue(refusal.contains("HEDDLE_PLANES has to name a plane alike on both ends"), refusal);
  }

  @Test
  void twoPeerPlanesOnOneAddressAreRefusedWithTheirNames() {
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () -> PlanePairing.requireDistinctAddresses("host-b", offers("if:e1 if:e2")));
    assertEquals(
        "host-b has planes if:e1 and if:e2 both on address 127.0.0.1; give each plane an"
            + " address of its own",
        refused.getMessage());
    PlanePairing.requireDistinctAddresses("host-b", offers("if:e1"));
  }
}
