package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.PlaneSuccession.Answer;
import io.heddle.addr.PlaneSuccession.KnownPlane;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class PlaneSuccessionTest {
  private static final KnownPlane ONE = known("if:e0", "e0", "fd00:1:1:1::7");
  private static final KnownPlane TWO = known("if:e1", "e1", "fd00:1:1:2::7");

  private PlaneRules rules = PlaneRules.NONE;
  private AddressFilter filter = AddressFilter.NONE;
  private Map<InetAddress, String> daemonKeys = Map.of();
  private final List<InetAddress> notTheDevices = new ArrayList<>();

  private static KnownPlane known(String key, String interfaceName, String... addresses) {
    return new KnownPlane(
        key, key, Arrays.stream(addresses).map(InetAddress::ofLiteral).toList(), interfaceName);
  }

  private static AssignedAddress on(int link, String text, AddressFlag... flags) {
    Set<AddressFlag> set = EnumSet.noneOf(AddressFlag.class);
    set.addAll(Arrays.asList(flags));
    return new AssignedAddress(
        link, InetAddress.ofLiteral(text), text.contains(":") ? 64 : 24, set);
  }

  private Answer find(KnownPlane gone, List<KnownPlane> others, AssignedAddress... addresses) {
    List<NetworkLink> links = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      links.add(new NetworkLink(i, "e" + i, 9000, true, true, false, "", 0, ""));
    }
    HostPlanes host =
        new HostPlanes(new HostAddresses(links, List.of(addresses)), rules, filter, daemonKeys);
    return new PlaneSuccession(host, "soft0", address -> !notTheDevices.contains(address))
        .of(gone, others);
  }

  private static void assertTaken(String address, Answer answer) {
    assertTrue(answer.plane() != null, answer.why());
    assertEquals(address, AddressText.of(answer.plane().address().address()));
    assertEquals("", answer.why());
  }

  private static void assertNoneSince(String why, Answer answer) {
    assertNull(answer.plane());
    assertEquals(why, answer.why());
  }

  @Test
  void onlyPlaneOfAnInterfaceTakesItsNewAddressAndKeepsItsKeys() {
    KnownPlane called = new KnownPlane("colour:3", "if:e0", ONE.addresses(), "e0");
    Answer answer = find(called, List.of(TWO), on(0, "fd00:2:2:1::7"), on(1, "fd00:1:1:2::7"));
    assertTaken("fd00:2:2:1::7", answer);
    assertEquals("colour:3", answer.plane().key());
    assertEquals("if:e0", answer.plane().ownKey());
    assertEquals("e0", answer.plane().link().name());
  }

  @Test
  void interfaceKeyIsKeptWhileOtherInterfacesHaveNoAddress() {
    assertTaken("fd00:2:2:1::7", find(ONE, List.of(TWO), on(0, "fd00:2:2:1::7")));
  }

  @Test
  void fittestOfSeveralAddressesInOneSubnetIsTaken() {
    assertTaken(
        "fd00:2:2:1:0:ff:fe00:101",
        find(
            ONE,
            List.of(TWO),
            on(0, "fd00:2:2:1::7"),
            on(0, "fd00:2:2:1:0:ff:fe00:101"),
            on(1, "fd00:1:1:2::7")));
  }

  @Test
  void addressesOfSeveralSubnetsAreAmbiguous() {
    assertNoneSince(
        "e0 has addresses of several subnets: fd00:2:2:1::7/64, fd00:3:3:1::7/64",
        find(ONE, List.of(TWO), on(0, "fd00:2:2:1::7"), on(0, "fd00:3:3:1::7")));
  }

  @Test
  void unusableAddressIsNotTaken() {
    notTheDevices.add(InetAddress.ofLiteral("fd00:5:5:1::7"));
    assertNoneSince(
        "",
        find(
            ONE,
            List.of(TWO),
            on(0, "fe80::7"),
            on(0, "fd00:2:2:1::7", AddressFlag.TENTATIVE),
            on(0, "fd00:3:3:1::7", AddressFlag.DEPRECATED),
            on(0, "fd00:4:4:1::7", AddressFlag.TEMPORARY),
            on(0, "fd00:5:5:1::7"),
            on(1, "fd00:6:6:1::7")));
  }

  @Test
  void addressOfAnotherPlaneIsNeverTaken() {
    KnownPlane two = known("if:e1", "e1", "fd00:1:1:2::7", "fd00:2:2:1::7");
    assertNoneSince("", find(ONE, List.of(two), on(0, "fd00:2:2:1::7")));
  }

  @Test
  void anotherFamilyIsNotTaken() {
    assertNoneSince("", find(ONE, List.of(TWO), on(0, "10.1.1.7")));
    KnownPlane four = known("if:e0", "e0", "10.0.1.7");
    assertTaken("10.1.1.7", find(four, List.of(), on(0, "10.1.1.7")));
  }

  @Test
  void planesOfOneInterfaceAreIdentifiedByTheirKeysAlone() {
    KnownPlane one = known("subnet:0001", "e0", "fd00:1:1:1::7");
    KnownPlane two = known("subnet:0002", "e0", "fd00:1:1:2::7");
    AssignedAddress kept = on(0, "fd00:1:1:2::7");
    assertTaken("fd00:9:9:1::7", find(one, List.of(two), kept, on(0, "fd00:9:9:1::7")));
    assertNoneSince(
        "e0 has planes subnet:0002 as well, so any of them could have become fd00:9:9:5::7/64",
        find(one, List.of(two), kept, on(0, "fd00:9:9:5::7")));
    assertTaken(
        "fd00:9:9:1::7", find(one, List.of(two), on(0, "fd00:9:9:1::7"), on(0, "fd00:9:9:2::7")));
  }

  @Test
  void operatorsRulesDecideIfThereAreAny() {
    rules = PlaneRules.parse("fd00:1::/32=1,fd00:2::/32=1,e1=2");
    KnownPlane one = known("plane:1", "e0", "fd00:1:1:1::7");
    KnownPlane two = known("plane:2", "e1", "fd00:1:1:2::7");
    assertTaken("fd00:2:2:1::7", find(one, List.of(two), on(0, "fd00:2:2:1::7")));
    assertTaken("fd00:7:7:1::7", find(two, List.of(one), on(1, "fd00:7:7:1::7")));
    assertNoneSince(
        "HEDDLE_PLANES gives none of fd00:7:7:1::7/64 this key",
        find(one, List.of(two), on(0, "fd00:7:7:1::7")));
  }

  @Test
  void filterAppliesToNewAddresses() {
    filter = AddressFilter.parse("fd00:1::/32", "");
    assertNoneSince("", find(ONE, List.of(TWO), on(0, "fd00:2:2:1::7")));
    assertTaken(
        "fd00:1:9:1::7", find(ONE, List.of(TWO), on(0, "fd00:2:2:1::7"), on(0, "fd00:1:9:1::7")));
  }

  @Test
  void addressWithAnotherDaemonKeyIsNotTaken() {
    KnownPlane one = new KnownPlane("colour:1", "if:e0", ONE.addresses(), "e0");
    daemonKeys = Map.of(InetAddress.ofLiteral("fd00:2:2:1::7"), "colour:4");
    assertNoneSince(
        "the route daemon gives fd00:2:2:1::7/64 another key",
        find(one, List.of(TWO), on(0, "fd00:2:2:1::7")));
    assertTaken("fd00:2:2:1::7", find(ONE, List.of(TWO), on(0, "fd00:2:2:1::7")));
  }
}
