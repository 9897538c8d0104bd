package io.heddle.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressFilter;
import io.heddle.addr.AddressFlag;
import io.heddle.addr.AddressText;
import io.heddle.addr.AssignedAddress;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.addr.PlaneDiscovery;
import io.heddle.addr.PlaneRules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the doctor's checks on synthetic hosts, with values on both sides of each limit. */
class SyntheticHostTest {
  /*
   * Index of the first synthetic interface. No machine has so many interfaces, so sysfs has no
   * entry for it.
   */
  private static final int FIRST_INDEX = 900_000;
  private static final Path NOWHERE = Path.of("/nowhere");

  private final List<NetworkLink> links = new ArrayList<>();
  private final List<AssignedAddress> addresses = new ArrayList<>();
  private @Nullable Path routes;
  private @Nullable Path config;

  private int link(String name, int mtu, boolean up, boolean carrier) {
    int index = FIRST_INDEX + links.size();
    links.add(new NetworkLink(index, name, mtu, up, carrier, false, "", 0, "veth"));
    return index;
  }

  private int port(String name, String... texts) {
    int index = link(name, 9_000, true, true);
    for (String text : texts) {
      address(index, text);
    }
    return index;
  }

  private void address(int index, String text, AddressFlag... flags) {
    addresses.add(
        new AssignedAddress(
            index, Objects.requireNonNull(AddressText.parse(text)), 64, Set.of(flags)));
  }

  private Host host(Map<String, String> environment) {
    HostAddresses all = new HostAddresses(links, addresses);
    return new Host(
        environment,
        all,
        PlaneDiscovery.discover(
            all, PlaneRules.parse(environment.get("HEDDLE_PLANES")), AddressFilter.NONE),
        null,
        new HostDevices(List.of(), List.of(), List.of()),
        new Host.Places(NOWHERE, routes, NOWHERE, config, NOWHERE));
  }

  private List<String> found(Check check, Map<String, String> environment) {
    return DoctorCommand.examine(host(environment), List.of(check)).stream()
        .filter(entry -> entry.cause() != null)
        .map(entry -> entry.level() + " " + entry.cause())
        .toList();
  }

  private List<String> found(Check check) {
    return found(check, Map.of());
  }

  private String evidence(Check check, String cause) {
    return DoctorCommand.examine(host(Map.of()), List.of(check)).stream()
        .filter(entry -> cause.equals(entry.cause()))
        .map(DoctorCommand.Entry::evidence)
        .findFirst()
        .orElse("");
  }

  private void twoGoodPorts() {
    port("e1", "fd00:1:1:1::1");
    port("e2", "fd00:1:1:2::1");
  }

  @Test
  void hostWithTwoGoodPortsHasNoFindings() {
    twoGoodPorts();
    assertEquals(List.of(), found(new AddressesCheck()));
    assertEquals(List.of(), found(new PortsCheck()));
    assertEquals(List.of(), found(new PlanesCheck()));
  }

  @Test
  void duplicateIsAFaultAndTransientStatesAreWarnings() {
    int index = port("e1");
    address(index, "fd00:1:1:1::1", AddressFlag.DUPLICATE);
    address(index, "fd00:1:1:1::2", AddressFlag.TENTATIVE);
    address(index, "fd00:1:1:1::3", AddressFlag.DEPRECATED);
    assertEquals(
        List.of(
            "FAULT address-duplicate", "WARNING address-tentative", "WARNING address-deprecated"),
        found(new AddressesCheck()));
    assertTrue(
        evidence(new AddressesCheck(), "address-duplicate")
            .startsWith("fd00:1:1:1::1/64 on e1 [duplicate]: another host has the same address"));
  }

  @ParameterizedTest
  @CsvSource({"true, true, false", "true, false, true", "false, true, true", "false, false, true"})
  void addressIsUsableOnlyIfItsLinkIsUpWithCarrier(boolean up, boolean carrier, boolean warns) {
    address(link("e1", 1_500, up, carrier), "fd00:1:1:1::1");
    assertEquals(warns ? List.of("WARNING link-down") : List.of(), found(new AddressesCheck()));
  }

  @Test
  void linkLocalAddressIsReportedOnlyIfAlone() {
    int alone = port("e1", "fe80::1");
    assertEquals(List.of("WARNING only-link-local"), found(new AddressesCheck()));
    assertTrue(evidence(new AddressesCheck(), "only-link-local").startsWith("e1 has fe80::1/64"));
    address(alone, "fd00:1:1:1::1");
    assertEquals(List.of(), found(new AddressesCheck()));
  }

  @Test
  void planesOnOneWireAreReported() {
    twoGoodPorts();
    address(FIRST_INDEX + 1, "fd00:1:1:3::1");
    assertEquals(List.of("WARNING planes-share-a-wire"), found(new PlanesCheck()));
    assertEquals(
        "planes subnet:0002, subnet:0003 are on one wire, e2: together they carry no more than"
            + " one, and fail together",
        evidence(new PlanesCheck(), "planes-share-a-wire"));
  }

  @Test
  void interfacesOfContainersAreIgnored() {
    twoGoodPorts();
    port("cali0123456789a", "fe80::1");
    port("docker0", "172.17.0.1");
    assertEquals(List.of(), found(new AddressesCheck()));
    assertEquals(List.of(), found(new PortsCheck()));
    assertEquals(List.of(), found(new PlanesCheck()));
  }

  @Test
  void portWithoutAddressIsNoAddressFinding() {
    port("e1");
    assertEquals(List.of(), found(new AddressesCheck()));
  }

  @Test
  void downOrIdlePortAlikeOthersIsReported() {
    twoGoodPorts();
    link("e3", 1_500, false, false);
    link("e4", 1_500, true, false);
    port("e5");
    assertEquals(
        List.of("WARNING plane-port-down", "WARNING plane-port-down", "WARNING port-without-plane"),
        found(new PortsCheck()));
    assertEquals(
        "e3 is like e1, e2, which carry planes [if:e1, if:e2]: it is set down",
        evidence(new PortsCheck(), "plane-port-down"));
    assertEquals(
        "e5 is like e1, e2, which carry planes [if:e1, if:e2]: it has no address",
        evidence(new PortsCheck(), "port-without-plane"));
  }

  @Test
  void portOfOtherNameKindOrSpeedIsNoPlanePort() {
    twoGoodPorts();
    port("mgmt0");
    link("e3", 1_500, true, true);
    links.add(
        new NetworkLink(FIRST_INDEX + links.size(), "e4", 9_000, true, true, false, "", 0, "vlan"));
    links.add(
        new NetworkLink(
            FIRST_INDEX + links.size(), "e5", 9_000, true, true, false, "", FIRST_INDEX, "veth"));
    assertEquals(List.of(), found(new PortsCheck()));
  }

  @Test
  void portWithAnIpv4AddressIsNoPlanePort() {
    twoGoodPorts();
    port("e3", "10.0.0.1");
    assertEquals(List.of(), found(new PortsCheck()));
  }

  @Test
  void namedPlanesSuppressPortFindings() {
    twoGoodPorts();
    port("e3");
    assertEquals(List.of(), found(new PortsCheck(), Map.of("HEDDLE_PLANES", "fd00:1:1::/48=a")));
  }

  /*
   * The other two planes' prefixes share 62 bits. A prefix that shares eight bits fewer isn't
   * foreign; one that shares nine fewer is.
   */
  @ParameterizedTest
  @CsvSource({
    "fd00:1:1:3::1,    false",
    "fd00:1:1:300::1,  false",
    "fd00:1:1:400::1,  true",
    "fd00:1:100:3::1,  true",
    "fd00:2:1:3::1,    true",
    "2001:db8::1,      true"
  })
  void prefixIsForeignIfItSharesFewBitsWithTheOthers(String third, boolean foreign) {
    twoGoodPorts();
    port("e3", third);
    assertEquals(foreign ? List.of("WARNING prefix-foreign") : List.of(), found(new PortsCheck()));
  }

  @Test
  void neitherOfTwoPlanesIsForeign() {
    port("e1", "fd00:1:1:1::1");
    port("e2", "2001:db8::1");
    assertEquals(List.of(), found(new PortsCheck()));
  }

  /*
   * Returns the doctor's evidence for configured planes that this host lacks. No route daemon runs,
   * so the doctor checks the ports: a peer's plane is missing if the host has no plane on its port.
   */
  private List<String> missing(Path folder, String peers) throws IOException {
    routes = folder.resolve("routes");
    config = Files.writeString(folder.resolve("bgp.conf"), "as = 65001\n" + peers);
    return DoctorCommand.examine(host(Map.of()), List.of(new RoutesCheck())).stream()
        .filter(entry -> "planes-fewer-than-configured".equals(entry.cause()))
        .map(entry -> entry.evidence().replace(config + " has ", ""))
        .toList();
  }

  @Test
  void everyConfiguredPeerNeedsAPlaneOnItsPort(@TempDir Path folder) throws IOException {
    twoGoodPorts();
    address(link("e3", 9_000, true, false), "fd00:1:1:3::1");
    port("e4", "fe80::4");
    address(link("e5", 9_000, true, true), "fd00:1:1:5::1", AddressFlag.TENTATIVE);
    String good =
        """
        [peer one]
        interface = e1
        plane = a
        [peer two]
        address = fd00:1:1:2::ff
        plane = by-colour
        """;
    assertEquals(List.of(), missing(folder, good));
    assertEquals(
        List.of(
            "plane:c, which this host lacks: e3 has no carrier",
            "plane:d, which this host lacks: e4 has no address that can be a plane's",
            "planes by colour of peer five, which this host lacks: e5 has fd00:1:1:5::1/64"
                + " (it is tentative: duplicate detection hasn't ended)",
            "plane:f, which this host lacks: no address here is in the subnet of peer six"),
        missing(
            folder,
            good
                + """
                [peer three]
                interface = e3
                plane = c
                [peer four]
                interface = e4
                plane = d
                [peer five]
                address = fd00:1:1:5::ff
                plane = by-colour
                [peer six]
                address = fd00:1:1:6::ff
                plane = f
                """));
  }

  @Test
  void namedPlaneWithUnusableAddressIsReportedWithReason() {
    twoGoodPorts();
    address(link("e3", 9_000, true, false), "fd00:1:1:3::1");
    Map<String, String> named = Map.of("HEDDLE_PLANES", "e1=a,e2=b,e3=c");
    assertEquals(List.of("WARNING planes-fewer-than-named"), found(new PlanesCheck(), named));
    DoctorCommand.Entry entry =
        DoctorCommand.examine(host(named), List.of(new PlanesCheck())).stream()
            .filter(each -> each.cause() != null)
            .findFirst()
            .orElseThrow();
    assertTrue(
        entry.evidence().contains("no address on [plane:c] that it can use: fd00:1:1:3::1"),
        entry.evidence());
  }

  @Test
  void planeCountAndMtusAreChecked() {
    assertEquals(List.of("FAULT no-plane"), found(new PlanesCheck()));
    port("e1", "fd00:1:1:1::1");
    assertEquals(List.of("WARNING single-plane"), found(new PlanesCheck()));
    address(link("e2", 1_500, true, true), "fd00:1:1:2::1");
    assertEquals(List.of("WARNING mtu-differs"), found(new PlanesCheck()));
  }

  @ParameterizedTest
  @CsvSource({
    "NCCL_IB_QPS_PER_CONNECTION, 1, 2",
    "NCCL_IB_TIMEOUT, 20, 21",
    "NCCL_IB_TIMEOUT, 12, 11",
    "NCCL_IB_TIMEOUT, 0x14, 0x15",
    "NCCL_IB_RETRY_CNT, 5, 4",
    "NCCL_CROSS_NIC, 1, 0",
    "NCCL_IB_MERGE_NICS, 0, 1",
    "NCCL_IB_ADAPTIVE_ROUTING, 0, 1",
    "NCCL_IB_ECE_ENABLE, 0, 1",
    "NCCL_P2P_NET_CHUNKSIZE, 131073, 131072",
    "NCCL_BUFFSIZE, 1048576, 1048575",
    "NCCL_SHM_DISABLE, 0, 1"
  })
  void settingIsReportedJustBeyondItsLimit(String variable, String good, String harmful) {
    assertEquals(List.of(), found(new SettingsCheck(), Map.of(variable, good)));
    assertEquals(1, found(new SettingsCheck(), Map.of(variable, harmful)).size());
  }

  @ParameterizedTest
  @CsvSource({"0xg", "1.5", "22s", "9999999999999999999"})
  void malformedNumberIsReportedOnce(String value) {
    assertEquals(
        List.of("WARNING setting-malformed"),
        found(new SettingsCheck(), Map.of("NCCL_IB_TIMEOUT", value)));
  }

  @Test
  void blankSettingIsUnset() {
    assertEquals(List.of(), found(new SettingsCheck(), Map.of("NCCL_IB_TIMEOUT", "  ")));
  }

  @ParameterizedTest
  @CsvSource({
    "e,      true",
    "e1,     true",
    "=e1,    true",
    "=e,     false",
    "ib,     false",
    "'ib,e', true",
    "^e,     false",
    "^ib,    true",
    "^=e1,   true"
  })
  void socketInterfacesAreParsedAsByNccl(String value, boolean takesSome) {
    twoGoodPorts();
    link("e9", 9_000, false, false);
    assertEquals(
        takesSome ? List.of() : List.of("FAULT socket-interface"),
        found(new SettingsCheck(), Map.of("NCCL_SOCKET_IFNAME", value)));
  }

  @Test
  void interfaceThatIsDownIsIgnoredByNccl() {
    address(link("e1", 9_000, false, false), "fd00:1:1:1::1");
    assertEquals(
        List.of("FAULT socket-interface"),
        found(new SettingsCheck(), Map.of("NCCL_SOCKET_IFNAME", "e1")));
  }

  @ParameterizedTest
  @EnumSource(DoctorCommand.Level.class)
  void unknownFindingsDoNotChangeTheExitCode(DoctorCommand.Level level) {
    DoctorCommand.Document document =
        DoctorCommand.Document.of(
            List.of(
                new DoctorCommand.Entry("c", DoctorCommand.Level.UNKNOWN, null, "e", null),
                new DoctorCommand.Entry("c", level, null, "e", null)));
    int expected =
        switch (level) {
          case OK, UNKNOWN -> 0;
          case WARNING -> 1;
          case FAULT -> 2;
        };
    assertEquals(expected, document.exitCode());
  }
}
