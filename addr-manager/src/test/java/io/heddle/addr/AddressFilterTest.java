package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of NCCL's address variables, applied to planes. */
final class AddressFilterTest {
  private static Optional<String> whyNot(AddressFilter filter, String address) {
    return filter.reasonExcluded(InetAddress.ofLiteral(address));
  }

  @Test
  void addressMustMatchOnePrefixOfTheRange() {
    AddressFilter filter = AddressFilter.parse("fd00:1:1::/48, fd00:2::8/127,10.0.0.0/9", null);
    assertEquals(Optional.empty(), whyNot(filter, "fd00:1:1:7::5"));
    assertEquals(Optional.empty(), whyNot(filter, "fd00:2::9"));
    assertEquals(Optional.empty(), whyNot(filter, "10.127.0.1"));
    for (String outside : List.of("fd00:1:2::1", "fd00:2::a", "10.128.0.1")) {
      assertEquals(
          "NCCL_IB_ADDR_RANGE=fd00:1:1::/48, fd00:2::8/127,10.0.0.0/9 doesn't include it",
          whyNot(filter, outside).orElse(""),
          outside);
    }
  }

  @Test
  void emptyPrefixIncludesOnlyItsOwnFamily() {
    assertEquals(Optional.empty(), whyNot(AddressFilter.parse("::/0", ""), "fd00::1"));
    assertTrue(whyNot(AddressFilter.parse("::/0", ""), "10.0.0.1").isPresent());
  }

  @Test
  void familyExcludesTheOther() {
    AddressFilter v6 = AddressFilter.parse(null, "AF_INET6");
    assertEquals(Optional.empty(), whyNot(v6, "fd00::1"));
    assertEquals("NCCL_IB_ADDR_FAMILY=AF_INET6 leaves it out", whyNot(v6, "10.0.0.1").orElse(""));
    AddressFilter v4 = AddressFilter.parse(" ", "AF_INET");
    assertEquals("NCCL_IB_ADDR_FAMILY=AF_INET leaves it out", whyNot(v4, "fd00::1").orElse(""));
    assertEquals(Optional.empty(), whyNot(AddressFilter.NONE, "10.0.0.1"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          fd00::/129       |          | part "fd00::/129" is not understood and is left out: the prefix length
          eth0             |          | "eth0" has no address; allowed is a list of prefixes
          fd00::/129       |          | "129" isn't a number from 0 to 128
          10.0.0.0/-1      |          | the prefix length "-1" isn't a number from 0 to 32
                           | AF_INTE6 | NCCL_IB_ADDR_FAMILY=AF_INTE6 is not understood and counts as not set; allowed is one of
          """)
  void malformedPartsAreIgnoredAndReportedWithTheAllowedForm(
      String range, String family, String message) {
    AddressFilter filter = AddressFilter.parse(range, family);
    assertTrue(filter.remarks().getFirst().contains(message), filter.remarks().toString());
    assertEquals(Optional.empty(), whyNot(filter, "fd00::1"));
    assertEquals(Optional.empty(), whyNot(filter, "10.0.0.1"));
  }

  @Test
  void validPartsOfARangeStillApply() {
    AddressFilter filter = AddressFilter.parse("eth0,fd00::/48,", null);
    assertEquals(1, filter.remarks().size());
    assertEquals(Optional.empty(), whyNot(filter, "fd00::1"));
    assertTrue(whyNot(filter, "fd01::1").isPresent());
  }

  @Test
  void excludedAddressesAreNoPlanesAndDontAffectTheInterfaceRule() {
    List<NetworkLink> links = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      links.add(new NetworkLink(i, i == 1 ? "lo" : "e" + i, 9000, true, true, i == 1, "", 0, ""));
    }
    HostAddresses host =
        new HostAddresses(
            links,
            List.of(
                address(2, "fd00:1:1:1::1"), address(2, "fd00:9::1"), address(3, "fd00:1:1:2::1")));
    assertEquals(List.of("subnet:0000", "subnet:0001", "subnet:0002"), keys(host, null, ""));
    assertEquals(List.of("if:e2", "if:e3"), keys(host, "fd00:1:1::/48", ""));
    assertEquals(List.of(), keys(host, "fd00:1:1::/48", "AF_INET"));
    PlaneDiscovery.Result ruled =
        PlaneDiscovery.discover(
            host,
            PlaneRules.parse("fd00:9::1=a,e3=b"),
            AddressFilter.parse("fd00:1:1::/48", "AF_INET6"));
    assertEquals(List.of("plane:b"), ruled.planes().stream().map(Plane::key).toList());
    assertTrue(
        ruled
            .rejected()
            .toString()
            .contains(
                "fd00:9::1/64 on e2 isn't used: NCCL_IB_ADDR_RANGE=fd00:1:1::/48 doesn't include"
                    + " it"),
        ruled.rejected().toString());
    assertEquals(List.of(), ruled.remarks(), "the rule fits an address of this host");
  }

  private static AssignedAddress address(int link, String text) {
    return new AssignedAddress(link, InetAddress.ofLiteral(text), 64, Set.of());
  }

  private static List<String> keys(HostAddresses host, String range, String family) {
    return PlaneDiscovery.discover(host, PlaneRules.NONE, AddressFilter.parse(range, family))
        .planes()
        .stream()
        .map(Plane::key)
        .toList();
  }
}
