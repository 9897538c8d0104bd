package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.net.InetAddress;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Test of {@link FabricTopology}: links, names and addresses. */
class FabricTopologyTest {
  static FabricTopology leafSpine(int spines, int links, int leaves, int hosts, boolean frr) {
    int planes = spines * links;
    return new FabricTopology(
        new FabricPlan(
            FabricShape.LEAF_SPINE,
            spines,
            links,
            leaves,
            hosts,
            Collections.nCopies(planes, 1_000_000_000L),
            Collections.nCopies(planes, 100),
            9_000,
            100,
            9,
            0,
            frr));
  }

  static FabricTopology separate(int planes, int hosts, boolean frr) {
    return new FabricTopology(
        new FabricPlan(
            FabricShape.PLANES,
            0,
            1,
            planes,
            hosts,
            Collections.nCopies(planes, 1_000_000_000L),
            Collections.nCopies(planes, 100),
            9_000,
            100,
            9,
            0,
            frr));
  }

  private static List<String> names(List<Node> nodes) {
    return nodes.stream().map(Node::name).toList();
  }

  private static List<String> text(List<Link> links) {
    return links.stream()
        .map(link ->
            "%s:%s - %s:%s plane %s"
                .formatted(
                    link.leaf().node().name(),
                    link.leaf().interfaceName(),
                    link.far().node().name(),
                    link.far().interfaceName(),
                    link.plane()))
        .toList();
  }

  private static final Node LEAF_1 = new Node(Role.LEAF, 1);
  private static final Node HOST_1 = new Node(Role.HOST, 1);

  @Test
  void everyLeafIsConnectedToEverySpineAndHostToItsLeaf() {
    FabricTopology topology = leafSpine(2, 1, 2, 3, false);
    assertEquals(List.of("l1", "l2", "s1", "s2", "h1", "h2", "h3"), names(topology.nodes()));
    assertEquals(
        List.of(
            "l1:s1 - s1:l1 plane 1",
            "l1:s2 - s2:l1 plane 2",
            "l2:s1 - s1:l2 plane 1",
            "l2:s2 - s2:l2 plane 2",
            "l1:h1 - h1:e0 plane 0",
            "l2:h2 - h2:e0 plane 0",
            "l1:h3 - h3:e0 plane 0"),
        text(topology.links()));
    assertEquals(topology.trunks(), topology.planeLinks());
  }

  @Test
  void severalLinksToASpineArePlanesWithLetters() {
    FabricTopology topology = leafSpine(2, 2, 1, 1, false);
    assertEquals(
        List.of(
            "l1:s1a - s1:l1a plane 1",
            "l1:s1b - s1:l1b plane 2",
            "l1:s2a - s2:l1a plane 3",
            "l1:s2b - s2:l1b plane 4"),
        text(topology.trunks()));
    assertEquals(List.of(1, 1, 2, 2), List.of(1, 2, 3, 4).stream().map(topology::spine).toList());
  }

  @Test
  void hostHasAPortOnEachSeparatePlane() {
    FabricTopology topology = separate(2, 2, false);
    assertEquals(
        List.of(
            "l1:h1 - h1:e1 plane 1",
            "l2:h1 - h1:e2 plane 2",
            "l1:h2 - h2:e1 plane 1",
            "l2:h2 - h2:e2 plane 2"),
        text(topology.links()));
    assertEquals(2, topology.announcedPlane(new Node(Role.LEAF, 2)));
    assertEquals(0, leafSpine(2, 1, 2, 2, false).announcedPlane(LEAF_1));
  }

  @Test
  void lastLeafIsFrrAndHasACoreOnASeparatePlane() {
    FabricTopology planes = separate(2, 1, true);
    Node last = new Node(Role.LEAF, 2);
    Node core = new Node(Role.CORE, 2);
    assertTrue(planes.isFrr(last));
    assertFalse(planes.isFrr(LEAF_1));
    assertEquals(List.of(core), planes.nodes(Role.CORE));
    assertEquals("l2:c2 - c2:l2 plane 0", text(planes.links()).getLast());
    assertEquals(1, planes.sessions(last));
    assertEquals(1, planes.sessions(core));
    assertEquals(0, planes.sessions(LEAF_1));
    FabricTopology leafSpine = leafSpine(3, 1, 2, 2, true);
    assertEquals(List.of(), leafSpine.nodes(Role.CORE));
    assertEquals(3, leafSpine.sessions(last));
    assertEquals(2, leafSpine.sessions(new Node(Role.SPINE, 3)));
  }

  @Test
  void thereIsNoCoreWithoutFrr() {
    assertEquals(List.of(), separate(2, 1, false).nodes(Role.CORE));
    assertFalse(separate(2, 1, false).isFrr(new Node(Role.LEAF, 2)));
  }

  @Test
  void portCarriesAllPlanesOfLeafSpineOrOneSeparatePlane() {
    FabricTopology joined = leafSpine(3, 1, 2, 2, false);
    assertEquals(List.of(1, 2, 3), joined.planesOf(joined.portsOf(LEAF_1).getFirst()));
    FabricTopology apart = separate(3, 2, false);
    assertEquals(List.of(1), apart.planesOf(apart.portsOf(LEAF_1).getFirst()));
  }

  @Test
  void planeTrafficIsCountedAtTheSpineOrThePlanesLeaf() {
    Link trunk = leafSpine(2, 1, 2, 2, false).trunks().getFirst();
    assertEquals("s1", trunk.counted().node().name());
    assertTrue(trunk.isTrunk());
    Link port = separate(2, 2, false).ports().getFirst();
    assertEquals("l1", port.counted().node().name());
    assertTrue(port.isPort());
  }

  @Test
  void prefixContainsLeafPortAndPlane() {
    FabricTopology topology = leafSpine(4, 1, 2, 4, false);
    Node third = new Node(Role.HOST, 3);
    assertEquals("l1", topology.leafOf(third).name());
    assertEquals("fd00:1:2:4::/64", topology.prefix(third, 4), "the leaf's second port");
    assertEquals("fd00:1:2:4::1", topology.gateway(third, 4));
    assertEquals("fd00:1:2:4:0:ff:fe00:301", topology.address(third, 4));
    assertEquals("fd00:2:3:2:0:ff:fe00:302", separate(4, 4, false).address(third, 2));
    assertEquals("fd00:2::/32", FabricTopology.aggregate(2));
  }

  /*
   * By EUI-64, ff:fe is in the middle of the address, and the seventh bit of the MAC address is
   * inverted.
   */
  @Test
  void addressIsFormedFromPrefixAndMacByEui64() throws Exception {
    for (FabricTopology topology : List.of(leafSpine(3, 1, 2, 6, false), separate(3, 6, false))) {
      for (Link port : topology.ports()) {
        Node host = port.far().node();
        String[] mac = topology.macAddress(port).split(":");
        for (int plane : topology.planesOf(port)) {
          byte[] address = InetAddress.getByName(topology.address(host, plane)).getAddress();
          int[] expected = {
            Integer.parseInt(mac[0], 16) ^ 2,
            Integer.parseInt(mac[1], 16),
            Integer.parseInt(mac[2], 16),
            0xff,
            0xfe,
            Integer.parseInt(mac[3], 16),
            Integer.parseInt(mac[4], 16),
            Integer.parseInt(mac[5], 16)
          };
          for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], address[8 + i] & 0xff, topology.address(host, plane));
          }
        }
      }
    }
  }

  @Test
  void prefixesAndRouterIdsAreUniqueInTheLargestFabrics() {
    for (FabricTopology topology :
        List.of(leafSpine(32, 1, 32, 64, false), separate(32, 64, true))) {
      Set<String> prefixes = new HashSet<>();
      for (Node host : topology.nodes(Role.HOST)) {
        for (int plane = 1; plane <= topology.plan().planes(); plane++) {
          assertTrue(prefixes.add(topology.prefix(host, plane)), topology.prefix(host, plane));
        }
      }
      Set<String> identifiers = new HashSet<>();
      for (Node router : topology.routers()) {
        assertTrue(identifiers.add(FabricTopology.routerId(router)), router.name());
      }
    }
  }

  @Test
  void leavesSpinesAndCoresHaveDistinctAsNumbers() {
    assertEquals(65_101, FabricTopology.leafAs(LEAF_1));
    assertEquals(65_202, FabricTopology.spineAs(new Node(Role.SPINE, 2)));
    assertEquals(65_303, FabricTopology.coreAs(new Node(Role.CORE, 3)));
    assertEquals("10.0.4.1", FabricTopology.routerId(HOST_1));
  }
}
