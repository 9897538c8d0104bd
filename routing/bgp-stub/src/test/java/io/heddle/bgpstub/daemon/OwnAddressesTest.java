package io.heddle.bgpstub.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bgp.wire.Families;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OwnAddressesTest {
  private static InetAddress address(String text) {
    return AddressText.parse(text);
  }

  private static NetworkLink link(int index, String name) {
    return new NetworkLink(index, name, 9000, true, true, false, "", 0, "veth");
  }

  private static AssignedAddress on(int link, String address, int bits) {
    return new AssignedAddress(link, address(address), bits, Set.of());
  }

  @Test
  void peersSubnetDeterminesItsInterface() {
    OwnAddresses own =
        new OwnAddresses(
            new HostAddresses(
                List.of(link(1, "e1"), link(2, "e2")),
                List.of(on(1, "fd00:1::2", 64), on(2, "fd00:2::2", 64))));
    assertEquals("e2", own.linkTowards(address("fd00:2::1")));
    assertEquals("e1", own.linkTowards(address("fd00:1::1")));
    assertNull(own.linkTowards(address("fd00:3::1")));
  }

  @Test
  void planesAddressesFollowThePeersFamiliesIpv6First() {
    OwnAddresses own =
        new OwnAddresses(
            new HostAddresses(
                List.of(link(1, "e1")),
                List.of(on(1, "10.0.1.2", 24), on(1, "fd00:1::2", 64), on(1, "10.0.1.1", 24))));
    assertEquals(
        List.of(address("10.0.1.1"), address("10.0.1.2")), own.on("e1", Families.IPV4_UNICAST));
    assertEquals(List.of(address("fd00:1::2")), own.on("e1", Families.IPV6_UNICAST));
    assertEquals(address("fd00:1::2"), own.on("e1", Families.UNICAST).getFirst());
    assertEquals("e1", own.linkTowards(address("10.0.1.254")));
    assertNull(own.linkTowards(address("10.0.2.1")));
  }
}
