package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.platform.HeddleException;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControlAddressesTest {
  private static final HostAddresses HOST =
      new HostAddresses(
          List.of(
              link(1, "lo"), link(2, "eth0"), link(3, "rdma0"), link(4, "rdma1"), link(5, "old0")),
          List.of(
              address(1, "127.0.0.1"),
              address(1, "::1"),
              address(2, "10.0.0.1"),
              address(2, "fe80::2"),
              address(2, "fd00:9::2"),
              address(3, "fd00:1:1:1::5"),
              address(4, "fd00:1:1:2::5"),
              address(5, "192.168.1.1")));

  @Test
  void planesOfOneInterfaceAreSeparatePaths() {
    HostAddresses host =
        new HostAddresses(
            List.of(link(1, "lo"), link(2, "eth0")),
            List.of(
                address(1, "::1"),
                address(2, "fd00:1:1:1::5"),
                address(2, "fd00:1:1:1::6"),
                address(2, "fe80::5"),
                address(2, "fd00:1:1:2::5"),
                address(2, "fd00:1:1:3::5"),
                address(2, "fd00:1:1:4::5")));
    assertEquals(
        List.of("fd00:1:1:1::5", "fd00:1:1:2::5", "fd00:1:1:3::5"),
        ControlAddresses.choose(host, null, null).stream().map(AddressText::of).toList());
  }

  /* The peer's docker0 has the same address as this host's, so the peer would connect to itself. */
  @Test
  void containerInterfacesListenOnlyIfNamedOrWithoutAlternative() {
    NetworkLink docker = link(3, "docker0");
    AssignedAddress bridged = address(3, "172.17.0.1");
    HostAddresses host =
        new HostAddresses(
            List.of(link(1, "lo"), link(2, "eth0"), docker),
            List.of(address(2, "10.0.0.1"), bridged));
    assertEquals(
        List.of("10.0.0.1"),
        ControlAddresses.choose(host, null, null).stream().map(AddressText::of).toList());
    assertEquals(
        List.of("172.17.0.1"),
        ControlAddresses.choose(host, "docker", null).stream().map(AddressText::of).toList());
    assertEquals(
        List.of("172.17.0.1"),
        ControlAddresses.choose(new HostAddresses(List.of(docker), List.of(bridged)), null, null)
            .stream()
            .map(AddressText::of)
            .toList());
  }

  private static NetworkLink link(int index, String name) {
    return new NetworkLink(index, name, 1500, true, true, index == 1, "", 0, "");
  }

  private static AssignedAddress address(int link, String text) {
    return new AssignedAddress(link, InetAddress.ofLiteral(text), 64, Set.of());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
                      |          | fd00:9::2 fd00:1:1:1::5 10.0.0.1
          eth0        |          | fd00:9::2 10.0.0.1
          eth,old     |          | fd00:9::2 192.168.1.1
          rdma        |          | fd00:1:1:1::5 fd00:1:1:2::5
                      | AF_INET  | 10.0.0.1 192.168.1.1
                      | AF_INET6 | fd00:9::2 fd00:1:1:1::5 fd00:1:1:2::5
          =lo         |          | 127.0.0.1 ::1
          lo          | AF_INET6 | ::1
          """)
  void atMostThreeAddressesOfDifferentInterfacesAndBothFamilies(
      String names, String family, String expected) {
    assertEquals(
        expected,
        String.join(
            " ",
            ControlAddresses.choose(HOST, names, family).stream().map(AddressText::of).toList()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          nosuch |         | by NCCL_SOCKET_IFNAME=nosuch; unset that, or name an interface that has one
          =old0  | AF_INET6 | by NCCL_SOCKET_IFNAME==old0 and NCCL_SOCKET_FAMILY=AF_INET6; unset
          """)
  void refusalNamesTheSetVariables(String names, String family, String words) {
    String message =
        assertThrows(HeddleException.class, () -> ControlAddresses.choose(HOST, names, family))
            .getMessage();
    assertTrue(message.contains(words) && !message.contains("null"), message);
  }

  @Test
  void hostWithoutAddressesIsReported() {
    HostAddresses bare = new HostAddresses(List.of(link(1, "lo")), List.of());
    String message =
        assertThrows(HeddleException.class, () -> ControlAddresses.choose(bare, null, null))
            .getMessage();
    assertTrue(message.endsWith("control channels; set one up and give it an address"), message);
  }

  @ParameterizedTest
  @CsvSource(
      value = {
        "eth0 | eth | true",
        "eth0 | ib,eth | true",
        "eth0 | =eth | false",
        "eth0 | =eth0,eth1 | true",
        "eth0 | ^docker,lo | true",
        "lo | ^docker,lo | false",
        "eth0 | ^=eth | true",
        "eth0 | ^=eth0 | false",
        "eth0 | '' | true",
        "eth0 | ib | false"
      },
      delimiter = '|')
  void namesMatchAsNcclMatchesThem(String name, String wanted, boolean matches) {
    assertEquals(matches, ControlAddresses.matches(name, wanted));
  }
}
