package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Tests of plane matching between two hosts with realistic layouts. Each host's planes are
 * discovered as at a plugin's start. A host is written as a list of its addresses: {@code e1
 * fd00:1:1:1::1/64, e2 …}.
 */
class PlaneMatchingTest {
  private static final int LAYOUTS = 4_000;

  /* Returns the planes that a plugin finds on a host with these addresses. */
  private static List<PlaneMarks> host(
      String addresses, String rules, Map<String, String> daemonKeys) {
    Map<String, NetworkLink> links = new LinkedHashMap<>();
    List<AssignedAddress> all = new ArrayList<>();
    for (String each : addresses.split(", ")) {
      String[] parts = each.split("[ /]");
      NetworkLink link =
          links.computeIfAbsent(
              parts[0],
              name -> new NetworkLink(links.size() + 2, name, 9000, true, true, false, "", 0, ""));
      all.add(
          new AssignedAddress(
              link.index(), InetAddress.ofLiteral(parts[1]), Integer.parseInt(parts[2]), Set.of()));
    }
    Map<InetAddress, String> names = new HashMap<>();
    daemonKeys.forEach((address, key) -> names.put(InetAddress.ofLiteral(address), key));
    return PlaneDiscovery.discover(
            new HostAddresses(List.copyOf(links.values()), all),
            PlaneRules.parse(rules),
            AddressFilter.NONE,
            names)
        .planes()
        .stream()
        .map(Plane::marks)
        .toList();
  }

  private static List<PlaneMarks> host(String addresses) {
    return host(addresses, "", Map.of());
  }

  /*
   * Asserts the matches, in order of their names and each written "mine=theirs BY", and the
   * unmatched planes.
   */
  private static void assertMatches(
      List<PlaneMarks> here, List<PlaneMarks> there, String left, String... matches) {
    PlaneMatching matching = PlaneMatching.of(here, there, false);
    assertEquals(
        List.of(matches),
        matching.matches().stream()
            .map(match ->
                here.get(match.here()).key()
                    + "="
                    + there.get(match.there()).key()
                    + " "
                    + match.by())
            .toList());
    List<String> rest = new ArrayList<>();
    matching.unmatchedHere().forEach(each -> rest.add("here " + here.get(each).key()));
    matching.unmatchedThere().forEach(each -> rest.add("there " + there.get(each).key()));
    assertEquals(left, String.join(", ", rest));
    assertMirrored(here, there, false);
  }

  private static Set<String> asSet(PlaneMatching matching, boolean mirrored) {
    Set<String> all = new HashSet<>();
    for (PlaneMatching.Match match : matching.matches()) {
      int first = mirrored ? match.there() : match.here();
      int second = mirrored ? match.here() : match.there();
      all.add(match.name() + " " + first + "=" + second + " " + match.by());
    }
    return all;
  }

  private static PlaneMatching assertMirrored(
      List<PlaneMarks> here, List<PlaneMarks> there, boolean oneHost) {
    PlaneMatching matching = PlaneMatching.of(here, there, oneHost);
    PlaneMatching mirror = PlaneMatching.of(there, here, oneHost);
    assertEquals(asSet(matching, false), asSet(mirror, true));
    assertEquals(matching.unmatchedHere(), mirror.unmatchedThere());
    assertEquals(matching.unmatchedThere(), mirror.unmatchedHere());
    assertEquals(
        matching.matches().stream().map(PlaneMatching.Match::name).toList(),
        mirror.matches().stream().map(PlaneMatching.Match::name).toList(),
        "both ends number the pairs alike");
    return matching;
  }

  @Test
  void otherPlanesPairIfOneHostLacksAPlane() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("e2 fd00:1:1:2::2/64"),
        "here if:e1",
        "if:e2=subnet:0002 PREFIX");
  }

  @Test
  void planesPairDespiteAnAdditionalPrefixOnOneSide() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("e1 fd00:1:1:1::2/64, e2 fd00:1:1:2::2/64, e2 fd00:1:1:3::2/64"),
        "there subnet:0003",
        "if:e1=subnet:0001 PREFIX",
        "if:e2=subnet:0002 PREFIX");
  }

  @Test
  void planesPairDespiteDifferentInterfaceNames() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("enp3s0 fd00:1:1:2::2/64, enp4s0 fd00:1:1:1::2/64"),
        "",
        "if:e1=if:enp4s0 PREFIX",
        "if:e2=if:enp3s0 PREFIX");
  }

  @Test
  void crossedCablesDoNotCrossThePlanes() {
    assertMatches(
        host("e1 10.0.1.1/24, e2 10.0.2.1/24"),
        host("e1 10.0.2.2/24, e2 10.0.1.2/24"),
        "",
        "if:e1=if:e2 PREFIX",
        "if:e2=if:e1 PREFIX");
  }

  @Test
  void lowBitsPairPlanesBehindRouters() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("p1 fd00:1:7:2::1/64, p2 fd00:1:7:1::1/64"),
        "",
        "if:e1=if:p2 LOW_BITS",
        "if:e2=if:p1 LOW_BITS");
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("e2 fd00:1:7:2::1/64"),
        "here if:e1",
        "if:e2=subnet:0002 LOW_BITS");
  }

  @Test
  void interfaceNamesPairPlanesWithDifferentSubnetNumbers() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("e1 fd00:1:7:2::1/64, e2 fd00:1:7:3::1/64, e3 fd00:1:7:4::1/64"),
        "there if:e3",
        "if:e1=if:e1 OWN_KEY",
        "if:e2=if:e2 OWN_KEY");
    assertMatches(
        host("e1 10.0.0.1/31, e2 10.0.0.3/31"),
        host("e1 10.0.0.5/31, e2 10.0.0.7/31"),
        "",
        "if:e1=if:e1 OWN_KEY",
        "if:e2=if:e2 OWN_KEY");
    assertMatches(
        host("e1 10.0.0.1/31, e2 10.0.0.3/31"),
        host("e2 10.0.0.7/31"),
        "here if:e1",
        "if:e2=subnet:10.0.0.6 INTERFACE");
  }

  @Test
  void interfaceNamesDistinguishPlanesOfOneNetwork() {
    assertMatches(
        host("e1 10.0.0.1/24, e2 10.0.0.2/24"),
        host("e1 10.0.0.3/24, e2 10.0.0.4/24"),
        "",
        "if:e1=if:e1 OWN_KEY",
        "if:e2=if:e2 OWN_KEY");
    /* Each host has one unmatched plane when the others are paired. */
    assertMatches(
        host("e1 10.0.0.1/24, e2 10.0.0.2/24"),
        host("e1 10.0.0.3/24, x9 10.0.0.4/24"),
        "",
        "if:e1=if:e1 OWN_KEY",
        "if:e2=if:x9 PREFIX");
  }

  @Test
  void ambiguousCandidatesStayUnmatched() {
    assertMatches(
        host("a1 10.0.0.1/24, a2 10.0.0.2/24, e3 10.0.3.1/24"),
        host("b1 10.0.0.3/24, b2 10.0.0.4/24, e3 10.0.3.2/24"),
        "here if:a1, here if:a2, there if:b1, there if:b2",
        "if:e3=if:e3 PREFIX");
  }

  @Test
  void podsWithoutAPrefixPairByInterfaceOrAsTheOnlyPlanes() {
    assertMatches(
        host("eth0 192.168.12.7/32"),
        host("eth0 192.168.99.3/32"),
        "",
        "subnet:192.168.12.7=subnet:192.168.99.3 INTERFACE");
    assertMatches(
        host("ens5 172.31.1.9/32"),
        host("eth0 172.31.77.3/32"),
        "",
        "subnet:172.31.1.9=subnet:172.31.77.3 ONLY_UNMATCHED");
    assertMatches(
        host("net1 fd10:1::5/128, net2 fd20:1::5/128"),
        host("net1 fd10:2::9/128, eth7 fd20:2::9/128"),
        "",
        "if:net2=if:eth7 ONLY_UNMATCHED",
        "if:net1=if:net1 OWN_KEY");
  }

  @Test
  void addressesOfDhcpWithoutAPrefixPairByTheirNetwork() {
    assertMatches(
        host("e1 fd00:1:1:1::10/128, e2 fd00:1:1:2::10/128"),
        host("p2 fd00:1:1:2::11/128, p1 fd00:1:1:1:0:ff:fe00:1/64"),
        "",
        "if:e1=if:p1 NETWORK",
        "if:e2=if:p2 NETWORK");
    /* Two subnets of one /64 are two planes. */
    assertMatches(
        host("a fd00::1:1/112, b fd00::2:1/112"),
        host("c fd00::2:2/112, d fd00::3:2/112"),
        "here if:a, there if:d",
        "if:b=if:c PREFIX");
  }

  @Test
  void lastPlanesOfDifferentNetworksDoNotPair() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host("e1 fd00:1:1:1::2/64, mgmt fd77::2/64"),
        "here if:e2, there if:mgmt",
        "if:e1=if:e1 PREFIX");
  }

  @Test
  void onePlaneOnEachHostIsUnambiguous() {
    assertMatches(
        host("eth0 10.1.1.5/24"),
        host("enp1s0 10.1.2.5/24"),
        "",
        "subnet:10.1.1.0=subnet:10.1.2.0 ONLY_UNMATCHED");
    assertMatches(
        host("eth0 10.1.1.5/24"),
        host("eth0 fd00::1/64"),
        "here subnet:10.1.1.0, there subnet:0000");
  }

  @Test
  void globalAddressesBesideUniqueLocalOnesStayUnmatched() {
    assertMatches(
        host("e1 fd00:1:1:1::1/64, e2 fd00:1:1:2::1/64"),
        host(
            "e1 fd00:1:1:1::2/64, e1 2001:db8:0:a1::2/64, e2 fd00:1:1:2::2/64,"
                + " e2 2001:db8:0:a2::2/64"),
        "there subnet:00a1, there subnet:00a2",
        "if:e1=subnet:0001 PREFIX",
        "if:e2=subnet:0002 PREFIX");
  }

  @Test
  void configuredKeysNeverPairWithOthers() {
    List<PlaneMarks> here = host("e1 10.0.1.1/24, e2 10.0.2.1/24", "e1=a,e2=b", Map.of());
    assertMatches(
        here,
        host("e1 10.0.2.2/24, e2 10.0.1.2/24", "e1=a,e2=c", Map.of()),
        "here plane:b, there plane:c",
        "plane:a=plane:a NAME");
    assertMatches(
        here,
        host("e1 10.0.1.2/24", "e1=z", Map.of()),
        "here plane:a, here plane:b, there plane:z");
    /* A plane without a name can match a named plane: only two different names exclude a match. */
    assertMatches(
        here,
        host("p9 10.0.2.2/24, p8 10.0.1.2/24"),
        "",
        "plane:a=if:p8 PREFIX",
        "plane:b=if:p9 PREFIX");
  }

  @Test
  void daemonsNamesTakePrecedenceAndDifferentOnesNeverPair() {
    Map<String, String> daemonKeys = Map.of("10.0.1.1", "colour:1", "10.0.2.1", "colour:2");
    assertMatches(
        host("e1 10.0.1.1/24, e2 10.0.2.1/24", "", daemonKeys),
        host(
            "e1 10.0.1.2/24, e2 10.0.2.2/24",
            "",
            Map.of("10.0.1.2", "colour:2", "10.0.2.2", "colour:3")),
        "here colour:1, there colour:3",
        "colour:2=colour:2 NAME");
    assertMatches(
        host("e1 10.0.1.1/24, e2 10.0.2.1/24", "", daemonKeys),
        host("e2 10.0.2.2/24"),
        "here colour:1",
        "colour:2=subnet:10.0.2.0 PREFIX");
  }

  @Test
  void pairsHaveDistinctNamesEvenIfKeysCross() {
    PlaneMatching crossed =
        PlaneMatching.of(
            host("e1 10.0.1.1/24, e2 10.0.2.1/24"), host("e1 10.0.2.2/24, e2 10.0.1.2/24"), false);
    assertEquals(
        List.of("net:10.0.1.0/24", "net:10.0.2.0/24"),
        crossed.matches().stream().map(PlaneMatching.Match::name).toList());
  }

  @Test
  void bothEndsFindTheSamePairsInAnyLayout() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int matched = 0;
    for (int i = 0; i < LAYOUTS; i++) {
      String what = "seed " + seed + ", layout " + i;
      List<PlaneMarks> here = layout(random, 1);
      List<PlaneMarks> there = layout(random, 2);
      boolean oneHost = random.nextBoolean();
      PlaneMatching matching;
      try {
        matching = assertMirrored(here, there, oneHost);
        assertSound(here, there, matching, oneHost);
        assertSameInAnyOrder(here, there, matching, oneHost, random);
      } catch (AssertionError wrong) {
        throw new AssertionError(what + ": " + here + " and " + there, wrong);
      }
      matched += matching.matches().size();
    }
    assertTrue(matched > LAYOUTS / 2, "seed " + seed + ": layouts have little in common");
  }

  private static void assertSound(
      List<PlaneMarks> here, List<PlaneMarks> there, PlaneMatching matching, boolean oneHost) {
    Set<String> names = new HashSet<>();
    Set<Integer> mine = new HashSet<>(matching.unmatchedHere());
    Set<Integer> theirs = new HashSet<>(matching.unmatchedThere());
    for (PlaneMatching.Match match : matching.matches()) {
      assertTrue(names.add(match.name()), "two pairs of one name");
      assertTrue(mine.add(match.here()) && theirs.add(match.there()), "a plane in two pairs");
      PlaneMarks a = here.get(match.here());
      PlaneMarks b = there.get(match.there());
      assertFalse(a.contradicts(b), a + " and " + b);
      assertTrue(oneHost || !a.address().equals(b.address()), "an address of both hosts");
    }
    for (int i = 0; i < here.size(); i++) {
      assertEquals(
          !mine.contains(i),
          matching.addressesOnBoth().contains(here.get(i).address()),
          "unmatched without a reason");
    }
  }

  private static void assertSameInAnyOrder(
      List<PlaneMarks> here,
      List<PlaneMarks> there,
      PlaneMatching matching,
      boolean oneHost,
      Random random) {
    List<PlaneMarks> mine = new ArrayList<>(here);
    List<PlaneMarks> theirs = new ArrayList<>(there);
    Collections.shuffle(mine, random);
    Collections.shuffle(theirs, random);
    assertEquals(
        text(here, there, matching), text(mine, theirs, PlaneMatching.of(mine, theirs, oneHost)));
  }

  private static List<String> text(
      List<PlaneMarks> here, List<PlaneMarks> there, PlaneMatching matching) {
    return matching.matches().stream()
        .map(match -> match.name() + here.get(match.here()) + there.get(match.there()) + match.by())
        .toList();
  }

  /*
   * Returns random planes. Their marks use few numbers, so that many marks agree and many matches
   * are ambiguous.
   */
  private static List<PlaneMarks> layout(Random random, int host) {
    Set<PlaneMarks> planes = new HashSet<>();
    int count = 1 + random.nextInt(4);
    while (planes.size() < count) {
      String own =
          switch (random.nextInt(3)) {
            case 0 -> "if:e" + random.nextInt(3);
            case 1 -> "subnet:000" + random.nextInt(3);
            default -> "plane:" + random.nextInt(3);
          };
      String key =
          switch (random.nextInt(4)) {
            case 0 -> "colour:" + random.nextInt(3);
            case 1 -> "plane:" + random.nextInt(3);
            default -> own;
          };
      boolean six = random.nextInt(4) > 0;
      String address =
          six
              ? "fd00:%s::%s:%s:%s"
                  .formatted(random.nextInt(2), random.nextInt(3), random.nextInt(2), host)
              : "10.0.%s.%s".formatted(random.nextInt(3), random.nextInt(4) == 0 ? 9 : host);
      int[] lengths = six ? new int[] {64, 64, 112, 127, 128} : new int[] {24, 24, 16, 31, 32};
      planes.add(
          new PlaneMarks(
              key,
              own,
              InetAddress.ofLiteral(address),
              lengths[random.nextInt(lengths.length)],
              "e" + random.nextInt(3)));
    }
    /* A host has each address and each key once. */
    Map<InetAddress, PlaneMarks> byAddress = new LinkedHashMap<>();
    planes.forEach(each -> byAddress.putIfAbsent(each.address(), each));
    Map<String, PlaneMarks> byKey = new LinkedHashMap<>();
    byAddress.values().forEach(each -> byKey.putIfAbsent(each.key(), each));
    List<PlaneMarks> all = new ArrayList<>(byKey.values());
    all.sort((left, right) -> Plane.KEY_ORDER.compare(left.key(), right.key()));
    return all;
  }
}
