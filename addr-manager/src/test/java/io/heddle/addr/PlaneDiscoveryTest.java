package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PlaneDiscoveryTest {
  private static final String EUI64 = ":0:ff:fe00:101";

  private static NetworkLink link(int index, String name, boolean up) {
    return new NetworkLink(index, name, 9000, up, up, index == 1, "", 0, "");
  }

  private static AssignedAddress address(int link, String text, AddressFlag... flags) {
    Set<AddressFlag> set = EnumSet.noneOf(AddressFlag.class);
    set.addAll(Arrays.asList(flags));
    return new AssignedAddress(link, InetAddress.ofLiteral(text), text.contains(":") ? 64 : 8, set);
  }

  private static HostAddresses host(int interfaces, AssignedAddress... addresses) {
    List<NetworkLink> links = new ArrayList<>(List.of(link(1, "lo", true)));
    for (int i = 0; i < interfaces; i++) {
      links.add(link(2 + i, "e" + i, true));
    }
    return new HostAddresses(links, List.of(addresses));
  }

  private static List<String> planes(PlaneDiscovery.Result result) {
    return result.planes().stream()
        .map(plane -> plane.key() + " " + AddressText.of(plane.address().address()))
        .toList();
  }

  private static List<String> rejected(PlaneDiscovery.Result result) {
    return result.rejected().stream().map(RejectedAddress::toString).toList();
  }

  @Test
  void routeDaemonsKeyTakesPrecedence() throws Exception {
    HostAddresses host =
        host(
            1,
            address(2, "fd00:1:1:1::1"),
            address(2, "fd00:1:1:2::1"),
            address(2, "fd00:1:1:3::1"));
    Map<InetAddress, String> daemonKeys =
        Map.of(
            InetAddress.getByName("fd00:1:1:1::1"), "colour:20",
            InetAddress.getByName("fd00:1:1:2::1"), "colour:10");
    assertEquals(
        List.of("colour:10 fd00:1:1:2::1", "colour:20 fd00:1:1:1::1", "subnet:0003 fd00:1:1:3::1"),
        planes(PlaneDiscovery.discover(host, PlaneRules.NONE, AddressFilter.NONE, daemonKeys)));
    assertEquals(
        List.of("colour:10 fd00:1:1:2::1", "plane:x fd00:1:1:3::1"),
        planes(
            PlaneDiscovery.discover(
                host,
                PlaneRules.parse("fd00:1:1:2::/64=y,fd00:1:1:3::/64=x"),
                AddressFilter.NONE,
                daemonKeys)));
  }

  @Test
  void keyWithoutTheRouteDaemonIsKept() throws Exception {
    HostAddresses host = host(2, address(2, "fd00:1:1:1::1"), address(3, "fd00:1:1:2::1"));
    Map<InetAddress, String> daemonKeys = Map.of(InetAddress.getByName("fd00:1:1:1::1"), "plane:a");
    assertEquals(
        List.of("if:e1 if:e1", "plane:a if:e0"),
        PlaneDiscovery.discover(host, PlaneRules.NONE, AddressFilter.NONE, daemonKeys)
            .planes()
            .stream()
            .map(plane -> plane.key() + " " + plane.ownKey())
            .toList());
  }

  private static PlaneDiscovery.Result discover(HostAddresses host, String rules) {
    return PlaneDiscovery.discover(host, PlaneRules.parse(rules));
  }

  @Test
  void severalInterfacesWithOneSubnetEachAreThePlanes() {
    HostAddresses host =
        host(2, address(2, "fd00:1:1:1" + EUI64), address(3, "fd00:1:1:2" + EUI64));
    assertEquals(
        List.of("if:e0 fd00:1:1:1:0:ff:fe00:101", "if:e1 fd00:1:1:2:0:ff:fe00:101"),
        planes(discover(host, "")));
  }

  @Test
  void oneInterfaceWithSeveralSubnetsGivesAPlanePerSubnet() {
    HostAddresses host =
        host(
            1,
            address(2, "fd00:1:1:10" + EUI64),
            address(2, "fd00:1:1:9" + EUI64),
            address(2, "fd00:1:1:a::1"));
    assertEquals(
        List.of(
            "subnet:0009 fd00:1:1:9:0:ff:fe00:101",
            "subnet:000a fd00:1:1:a::1",
            "subnet:0010 fd00:1:1:10:0:ff:fe00:101"),
        planes(discover(host, "")));
  }

  @Test
  void eachAdapterHasItsOwnAddressOnEachSharedPlane() {
    HostAddresses host =
        host(
            2,
            address(2, "fd00:1:1:1::1"),
            address(2, "fd00:1:1:2::1"),
            address(3, "fd00:1:1:1::2"),
            address(3, "fd00:1:1:2::2"));
    HostPlanes planes = new HostPlanes(host, PlaneRules.NONE, AddressFilter.NONE, Map.of());
    assertEquals(
        List.of("subnet:0001 fd00:1:1:1::1", "subnet:0002 fd00:1:1:2::1"), planes(planes.ofAll()));
    for (int adapter = 1; adapter <= 2; adapter++) {
      String end = "::" + adapter;
      PlaneDiscovery.Result found =
          planes.of("nic" + adapter, address -> AddressText.of(address).endsWith(end));
      assertEquals(
          List.of("subnet:0001 fd00:1:1:1" + end, "subnet:0002 fd00:1:1:2" + end), planes(found));
      assertTrue(
          rejected(found).toString().contains("it is not an address of device nic" + adapter),
          rejected(found).toString());
    }
  }

  @Test
  void interfacesOfOtherDevicesDoNotChangeADevicesKeys() {
    HostAddresses host = host(2, address(2, "fd00:1:1:1::1"), address(3, "fd00:1:1:2::1"));
    HostPlanes planes = new HostPlanes(host, PlaneRules.NONE, AddressFilter.NONE, Map.of());
    assertEquals(List.of("if:e0 fd00:1:1:1::1", "if:e1 fd00:1:1:2::1"), planes(planes.ofAll()));
    assertEquals(
        List.of("subnet:0002 fd00:1:1:2::1"),
        planes(planes.of("nic1", address -> AddressText.of(address).equals("fd00:1:1:2::1"))));
  }

  @Test
  void subnetsAreThePlanesIfAnyInterfaceHasTwo() {
    HostAddresses host =
        host(
            2,
            address(2, "fd00:1:1:1::1"),
            address(2, "fd00:1:1:2::1"),
            address(3, "fd00:1:1:3::1"));
    assertEquals(
        List.of(
            "subnet:0001 fd00:1:1:1::1", "subnet:0002 fd00:1:1:2::1", "subnet:0003 fd00:1:1:3::1"),
        planes(discover(host, "")));
  }

  @Test
  void aSingleUsableAddressIsASubnetPlane() {
    assertEquals(
        List.of("subnet:0001 fd00:1:1:1::1"),
        planes(discover(host(2, address(3, "fd00:1:1:1::1")), "")));
  }

  @Test
  void planeTakesTheEui64AddressThenTheLowest() {
    PlaneDiscovery.Result result =
        discover(host(1, address(2, "fd00:1:1:1::1"), address(2, "fd00:1:1:1" + EUI64)), "");
    assertEquals(List.of("subnet:0001 fd00:1:1:1:0:ff:fe00:101"), planes(result));
    assertEquals(
        "the low 16 bits of its /64; of 2 addresses the one with EUI-64 form",
        result.planes().getFirst().reason());
    assertEquals(
        List.of(
            "fd00:1:1:1::1/64 on e0 isn't used: plane subnet:0001 already has"
                + " fd00:1:1:1:0:ff:fe00:101"),
        rejected(result));

    assertEquals(
        List.of("subnet:0001 fd00:1:1:1::1"),
        planes(discover(host(1, address(2, "fd00:1:1:1::2"), address(2, "fd00:1:1:1::1")), "")));
  }

  @Test
  void everyUnusableAddressIsRejectedWithItsReason() {
    HostAddresses host =
        new HostAddresses(
            List.of(link(1, "lo", true), link(2, "e0", true), link(3, "e1", false)),
            List.of(
                address(1, "127.0.0.1"),
                address(1, "fd00:9::9"),
                address(2, "192.0.2.1"),
                address(2, "fd00::1:0:0:1", AddressFlag.DUPLICATE, AddressFlag.TENTATIVE),
                address(2, "fd00::1:0:0:2", AddressFlag.TENTATIVE),
                address(2, "fd00::1:0:0:3", AddressFlag.DEPRECATED),
                address(2, "fd00::1:0:0:4", AddressFlag.TEMPORARY),
                address(2, "fe80::1"),
                address(3, "fd00::1:0:0:5")));
    PlaneDiscovery.Result result = discover(host, "");
    assertEquals(List.of(), result.planes());
    assertEquals(
        List.of(
            "127.0.0.1/8 " + on("lo", UnusableReason.LOOPBACK),
            "fd00:9::9/64 " + on("lo", UnusableReason.LOOPBACK),
            "192.0.2.1/8 " + on("e0", UnusableReason.IPV4),
            "fd00::1:0:0:1/64 " + on("e0", UnusableReason.DUPLICATE),
            "fd00::1:0:0:2/64 " + on("e0", UnusableReason.TENTATIVE),
            "fd00::1:0:0:3/64 " + on("e0", UnusableReason.DEPRECATED),
            "fd00::1:0:0:4/64 " + on("e0", UnusableReason.TEMPORARY),
            "fe80::1/64 " + on("e0", UnusableReason.LINK_LOCAL),
            "fd00::1:0:0:5/64 " + on("e1", UnusableReason.LINK_DOWN)),
        rejected(result));
  }

  private static String on(String link, UnusableReason unusable) {
    return "on " + link + " isn't used: " + unusable.reason();
  }

  @Test
  void anOptimisticAddressIsUsable() {
    HostAddresses host =
        host(1, address(2, "fd00::1", AddressFlag.TENTATIVE, AddressFlag.OPTIMISTIC));
    assertEquals(1, discover(host, "").planes().size());
  }

  @Test
  void rulesDecideAndExcludeAllOtherAddresses() {
    HostAddresses host =
        host(
            2,
            address(2, "fd00:1:1:1::1"),
            address(2, "fd00:1:1:2::1"),
            address(3, "fd00:1:1:3::1"),
            address(3, "fd00:1:1:4::1", AddressFlag.TENTATIVE));
    PlaneDiscovery.Result result = discover(host, "fd00:1:1:2::/64=10,e1=9,e7=3");
    assertEquals(List.of("plane:9 fd00:1:1:3::1", "plane:10 fd00:1:1:2::1"), planes(result));
    assertEquals(
        List.of(
            "fd00:1:1:1::1/64 on e0 isn't used: HEDDLE_PLANES is set and doesn't name it",
            "fd00:1:1:4::1/64 " + on("e1", UnusableReason.TENTATIVE)),
        rejected(result));
    assertEquals(List.of("HEDDLE_PLANES: e7=3 matches no address of this host"), result.remarks());
  }

  @Test
  void namedLoopbackAddressesArePlanesWithoutAKernelEntry() {
    HostAddresses host = host(0, address(1, "127.0.0.1"), address(1, "::1"));
    PlaneDiscovery.Result result = discover(host, "127.0.1.1=1,127.0.1.2=2");
    assertEquals(List.of("plane:1 127.0.1.1", "plane:2 127.0.1.2"), planes(result));
    assertEquals("lo", result.planes().getFirst().link().name());
    assertEquals(2, result.rejected().size());
    assertTrue(result.remarks().isEmpty());
  }

  @Test
  void interfaceRuleDoesNotIncludeIpv4() {
    HostAddresses host = host(1, address(2, "192.0.2.1"), address(2, "fd00:1:1:1::1"));
    assertEquals(List.of("plane:x fd00:1:1:1::1"), planes(discover(host, "e0=x")));
  }

  @Test
  void ipv4InterfacesArePlanesIfThereIsNoIpv6() {
    HostAddresses host =
        host(2, address(1, "127.0.0.1"), v4(2, "10.0.1.5", 24), v4(3, "10.0.2.5", 24));
    assertEquals(List.of("if:e0 10.0.1.5", "if:e1 10.0.2.5"), planes(discover(host, "")));
  }

  @Test
  void linkLocalIpv6DoesNotCountAsIpv6() {
    HostAddresses host = host(1, address(2, "fe80::1"), v4(2, "10.0.1.5", 24));
    assertEquals(List.of("subnet:10.0.1.0 10.0.1.5"), planes(discover(host, "")));
  }

  @Test
  void anIpv6PlaneThatIsDownIsNotReplacedByIpv4() {
    HostAddresses host =
        new HostAddresses(
            List.of(link(1, "lo", true), link(2, "e0", true), link(3, "e1", false)),
            List.of(v4(2, "10.0.1.5", 24), address(3, "fd00:1:1:1::1")));
    PlaneDiscovery.Result result = discover(host, "");
    assertEquals(List.of(), result.planes());
    assertEquals("10.0.1.5/24 " + on("e0", UnusableReason.IPV4), rejected(result).getFirst());
  }

  @Test
  void eachIpv4SubnetOfOneInterfaceIsAPlaneInNumericOrder() {
    HostAddresses host =
        host(
            1,
            v4(2, "10.0.10.65", 26),
            v4(2, "10.0.9.7", 24),
            v4(2, "10.0.9.3", 24),
            v4(2, "10.0.10.1", 26));
    PlaneDiscovery.Result result = discover(host, "");
    assertEquals(
        List.of(
            "subnet:10.0.9.0 10.0.9.3",
            "subnet:10.0.10.0 10.0.10.1",
            "subnet:10.0.10.64 10.0.10.65"),
        planes(result));
    assertEquals(
        "its subnet of 24 bits; of 2 addresses the lowest", result.planes().getFirst().reason());
  }

  @Test
  void addressesOfBridgesAreNoIpv4Planes() {
    NetworkLink bridge =
        new NetworkLink(4, "br0", 1500, true, true, false, "02:00:00:00:00:04", 0, "bridge");
    HostAddresses host =
        new HostAddresses(
            List.of(link(2, "e0", true), bridge),
            List.of(v4(2, "10.0.1.5", 24), v4(4, "172.17.0.1", 16)));
    PlaneDiscovery.Result result = discover(host, "");
    assertEquals(List.of("subnet:10.0.1.0 10.0.1.5"), planes(result));
    assertEquals(List.of("172.17.0.1/16 " + on("br0", UnusableReason.BRIDGE)), rejected(result));
    assertEquals(List.of("plane:x 172.17.0.1"), planes(discover(host, "172.17.0.1=x")));
    assertEquals(List.of("plane:x 172.17.0.1"), planes(discover(host, "br0=x")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "docker0",
        "docker_gwbridge",
        "br-0123456789ab",
        "veth1a2b3c4",
        "cni0",
        "flannel.1",
        "virbr0",
        "kube-ipvs0",
        "kube-bridge",
        "cali1234567890a",
        "vxlan.calico",
        "lxc0a1b2c3d4e5f",
        "lxcbr0",
        "cilium_host"
      })
  void interfacesOfContainersCarryNoPlaneUnlessTheyAreNamed(String name) {
    NetworkLink containers =
        new NetworkLink(4, name, 1500, true, true, false, "02:00:00:00:00:04", 0, "");
    HostAddresses host =
        new HostAddresses(
            List.of(link(2, "e0", true), containers),
            List.of(address(2, "fd00:1:1:1::1"), address(4, "fd00:dead::1")));
    PlaneDiscovery.Result result = discover(host, "");
    assertEquals(List.of("subnet:0001 fd00:1:1:1::1"), planes(result));
    assertEquals(
        List.of("fd00:dead::1/64 " + on(name, UnusableReason.CONTAINERS)), rejected(result));
    assertEquals(List.of("plane:x fd00:dead::1"), planes(discover(host, name + "=x")));
    assertEquals(List.of("plane:x fd00:dead::1"), planes(discover(host, "fd00:dead::/64=x")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"veth0", "br-lan", "e0", "eth0", "bond0", "lo1", "dock0", "virtio0"})
  void operatorsInterfaceNamesAreNotTakenForContainers(String name) {
    assertFalse(link(4, name, true).isContainerInterface());
  }

  @Test
  void ipv6AddressOfContainersDoesNotSuppressIpv4Planes() {
    NetworkLink docker =
        new NetworkLink(4, "docker0", 1500, true, true, false, "02:00:00:00:00:04", 0, "bridge");
    HostAddresses host =
        new HostAddresses(
            List.of(link(2, "e0", true), docker),
            List.of(v4(2, "10.0.1.5", 24), address(4, "fd00:dead::1")));
    assertEquals(List.of("subnet:10.0.1.0 10.0.1.5"), planes(discover(host, "")));
  }

  @Test
  void configuredFamilyDecidesIfAHostHasBoth() {
    HostAddresses host =
        host(
            2,
            address(2, "fd00:1:1:1::1"),
            address(3, "fd00:1:1:2::1"),
            v4(2, "10.0.1.5", 24),
            v4(3, "10.0.2.5", 24));
    AddressFilter v4 = AddressFilter.parse(null, "AF_INET");
    PlaneDiscovery.Result result = PlaneDiscovery.discover(host, PlaneRules.NONE, v4);
    assertEquals(List.of("if:e0 10.0.1.5", "if:e1 10.0.2.5"), planes(result));
    assertEquals(
        "fd00:1:1:1::1/64 on e0 isn't used: NCCL_IB_ADDR_FAMILY=AF_INET leaves it out",
        rejected(result).getFirst());
    AddressFilter range = AddressFilter.parse("10.0.2.0/24", null);
    assertEquals(
        List.of("subnet:10.0.2.0 10.0.2.5"),
        planes(PlaneDiscovery.discover(host, PlaneRules.NONE, range)));
  }

  @Test
  void ipv4OnlyDeviceHasIpv4PlanesBesideAnIpv6Device() {
    HostAddresses host = host(2, address(2, "fd00:1:1:1::1"), v4(3, "10.0.2.5", 24));
    HostPlanes planes = new HostPlanes(host, PlaneRules.NONE, AddressFilter.NONE, Map.of());
    assertEquals(List.of("subnet:0001 fd00:1:1:1::1"), planes(planes.ofAll()));
    assertEquals(
        List.of("subnet:10.0.2.0 10.0.2.5"),
        planes(planes.of("nic1", address -> AddressText.of(address).equals("10.0.2.5"))));
  }

  private static AssignedAddress v4(int link, String address, int prefixLength) {
    return new AssignedAddress(
        link,
        java.util.Objects.requireNonNull(AddressText.parse(address)),
        prefixLength,
        Set.of(AddressFlag.PERMANENT));
  }

  @Test
  void keysAreOrderedByTheirNumbers() {
    List<String> keys =
        new ArrayList<>(
            List.of(
                "if:e10",
                "if:e9",
                "subnet:10.0.10.0",
                "subnet:10.0.9.0",
                "subnet:00a1",
                "plane:2",
                "plane:10",
                "if:e9b",
                "subnet:0010",
                "plane:02"));
    keys.sort(Plane.KEY_ORDER);
    assertEquals(
        List.of(
            "if:e9",
            "if:e9b",
            "if:e10",
            "plane:02",
            "plane:2",
            "plane:10",
            "subnet:0010",
            "subnet:00a1",
            "subnet:10.0.9.0",
            "subnet:10.0.10.0"),
        keys);
  }
}
