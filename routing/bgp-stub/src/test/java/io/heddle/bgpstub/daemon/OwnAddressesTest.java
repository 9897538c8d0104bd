package io.heddle.bgpstub.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import java.net.Inet6Address;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OwnAddressesTest {
  private static Inet6Address address(String text) {
    return (Inet6Address) AddressText.parse(text);
  }

  private static NetworkLink link(int index, String name) {
    return new NetworkLink(index, name, 9000, true, true, false, "", 0, "veth");
  }

  private static AssignedAddress on(int link, String address, int bits) {
    return new AssignedAddress(link, address(address), bits, Set.of());
  }

  @Test
  void thePeersSubnetTellsTheInterfaceTowardsIt() {
    OwnAddresses own =
        new OwnAddresses(
            new HostAddresses(
                List.of(link(1, "e1"), link(2, "e2")),
                List.of(on(1, "fd00:1::2", 64), on(2, "fd00:2::2", 64))));
    assertEquals("e2", own.linkTowards(address("fd00:2::1")));
    assertEquals("e1", own.linkTowards(address("fd00:1::1")));
    assertNull(own.linkTowards(address("fd00:3::1")));
  }
}
