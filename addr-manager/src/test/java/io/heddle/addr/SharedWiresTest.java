package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SharedWiresTest {
  private final List<NetworkLink> links = new ArrayList<>();
  private final List<AssignedAddress> addresses = new ArrayList<>();

  private int link(String name, int parent, String kind, String... texts) {
    int index = links.size() + 2;
    links.add(new NetworkLink(index, name, 9000, true, true, false, "", parent, kind));
    for (String text : texts) {
      addresses.add(new AssignedAddress(index, InetAddress.ofLiteral(text), 64, Set.of()));
    }
    return index;
  }

  private List<String> shared() {
    HostAddresses host = new HostAddresses(links, addresses);
    return SharedWires.of(host, PlaneDiscovery.discover(host, PlaneRules.NONE).planes()).stream()
        .map(wire -> wire.name() + " " + wire.planes().stream().map(Plane::key).toList())
        .toList();
  }

  @Test
  void interfacesWithOnePlaneEachShareNoWire() {
    link("e1", 0, "", "fd00:1:1:1::1");
    link("e2", 0, "", "fd00:1:1:2::1");
    assertEquals(List.of(), shared());
  }

  @Test
  void singleInterfaceMayHaveAllPlanes() {
    link("e1", 0, "", "fd00:1:1:1::1", "fd00:1:1:2::1");
    assertEquals(List.of(), shared());
    link("e2", 0, "", "fd00:1:1:3::1", "fd00:1:1:4::1");
    assertEquals(List.of(), shared());
  }

  @Test
  void twoPrefixesBesideInterfacesWithOneShareTheirWire() {
    link("e1", 0, "", "fd00:1:1:1::1");
    link("e2", 0, "", "fd00:1:1:2::1", "fd00:1:1:3::1");
    assertEquals(List.of("e2 [subnet:0002, subnet:0003]"), shared());
  }

  @Test
  void vlansAndMacvlansShareTheInterfaceBelow() {
    int port = link("p0", 0, "");
    int bond = link("bond0", 0, "bond");
    link("v1", bond, "vlan", "fd00:1:1:1::1");
    int vlan = link("v2", bond, "vlan");
    link("m2", vlan, "macvlan", "fd00:1:1:2::1");
    link("m3", port, "macvlan", "fd00:1:1:3::1");
    assertEquals(List.of("bond0 [if:m2, if:v1]"), shared());
    assertEquals(
        "planes if:m2, if:v1 are on one wire, bond0: together they carry no more than one, and"
            + " fail together",
        SharedWires.of(
                new HostAddresses(links, addresses),
                PlaneDiscovery.discover(new HostAddresses(links, addresses), PlaneRules.NONE)
                    .planes())
            .getFirst()
            .describe());
  }

  @Test
  void macvlansInAContainerShareAnInterfaceOfItsHost() {
    link("net1", -4, "macvlan", "fd00:1:1:1::1");
    link("net2", -4, "macvlan", "fd00:1:1:2::1");
    link("net3", -5, "macvlan", "fd00:1:1:3::1");
    assertEquals(List.of("interface 4 of another namespace [if:net1, if:net2]"), shared());
  }
}
