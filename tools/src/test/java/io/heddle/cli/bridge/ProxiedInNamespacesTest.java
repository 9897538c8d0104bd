package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.cm.CmMessage;
import io.heddle.bridge.cm.CmaHeader;
import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.bridge.cm.SidrRequest;
import io.heddle.bridge.config.BridgeConfig;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of hosts in two fabrics without routes to each other. They communicate through proxy
 * addresses of the bridge.
 */
@EndsWithin(120)
@SystemTest
class ProxiedInNamespacesTest extends BridgedFabrics {
  private static final int SERVICES = 3;
  private static final List<String> PROXIES =
      List.of(
          "[proxy a 10.1.0.200]\nfor = 10.2.0.100",
          "[proxy b 10.2.0.210]\nfor = 10.1.0.10",
          "[proxy b 10.2.0.211]\nfor = 10.1.0.11",
          "[proxy a fd01::200]\nfor = fd02::100",
          "[proxy b fd02::210]\nfor = fd01::10",
          /* The next two are for an IPv4 client and an IPv6 server. */
          "[proxy a 10.1.0.201]\nfor = fd02::101",
          "[proxy b fd02::212]\nfor = 10.1.0.12");

  @BeforeEach
  void setUp() {
    open(1500);
    run(
        0,
        UnicastRoutes.of(config(PROXIES))
            .lines()
            .filter(line -> line.startsWith("  ip "))
            .toList());
    start(config(PROXIES));
  }

  private BridgeConfig config(List<String> proxies) {
    List<String> sections = new ArrayList<>(List.of("[unicast]\naddresses = proxied"));
    sections.addAll(proxies);
    return config(
        "interface = e1\nprefix = 10.1.0.0/24,fd01::/64",
        "interface = e2\nprefix = 10.2.0.0/24,fd02::/64",
        sections);
  }

  private void reload(List<String> proxies) {
    NetworkNamespace.call(fabrics.namespace(0), () -> bridge.reload(config(proxies)));
  }

  @Test
  void clientsResolveServersByProxyAddresses() {
    SidrServer server4 = new SidrServer(endAt(HOST_B, "10.2.0.100"));
    SidrServer server6 = new SidrServer(endAt(HOST_B, "fd02::100"));
    SidrServer mixed = new SidrServer(endAt(HOST_B, "fd02::101"));
    SidrServer[] servers = {server4, server4, server6, mixed};
    String[] own = {"10.1.0.10", "10.1.0.11", "fd01::10", "10.1.0.12"};
    String[] asked = {"10.1.0.200", "10.1.0.200", "fd01::200", "10.1.0.201"};
    String[] seenAs = {"10.2.0.210", "10.2.0.211", "fd02::210", "fd02::212"};
    List<SidrClient> clients = new ArrayList<>();
    for (int i = 0; i < own.length; i++) {
      clients.add(
          new SidrClient(endAt(HOST_A, own[i]), address(asked[i]), 0x2000 + 0x100 * i, SERVICES));
    }
    await(() -> {
      clients.forEach(SidrClient::work);
      List.of(server4, server6, mixed).forEach(SidrServer::work);
      return clients.stream().allMatch(SidrClient::isDone);
    });
    for (int i = 0; i < own.length; i++) {
      clients.get(i).check(servers[i], address(seenAs[i]));
    }
    assertEquals(own.length, unicast().clients().getFirst().pairs());
    await(() -> direction(1).arrived() == settled(direction(1)));
    assertEquals(Map.of(), direction(0).drops());
  }

  @Test
  void countsHostWithoutProxyAddressUntilReloadAddsOne() {
    DatagramEnd server = endAt(HOST_B, "10.2.0.100");
    DatagramEnd known = endAt(HOST_A, "10.1.0.10");
    DatagramEnd unknown = endAt(HOST_A, "10.1.0.13");
    DatagramEnd other = endAt(HOST_A, "10.1.0.12");
    Gid standIn = address("10.1.0.200");
    unknown.sendNumber(standIn, 5, 6, 7, 1);
    other.sendNumber(standIn, 5, 6, 7, 2);
    known.sendNumber(address("10.1.0.254"), 5, 6, 7, 3);
    known.sendNumber(standIn, 5, 6, 7, 4);
    await(() -> settled(direction(0)) == 4);
    assertEquals(Map.of("no-proxy-address", 2L, "foreign-destination", 1L), direction(0).drops());
    await(server::receive);
    assertEquals(address("10.2.0.210"), server.from());
    assertEquals(4, Memory.ALL.get(Memory.NETWORK_LONG, server.payload()));
    server.sendNumber(server.from(), 6, 5, 7, 5);
    await(known::receive);
    assertEquals(standIn, known.from());

    List<String> more = new ArrayList<>(PROXIES);
    more.add("[proxy b 10.2.0.213]\nfor = 10.1.0.13");
    HeddleException refused = assertThrows(HeddleException.class, () -> reload(more));
    assertTrue(
        String.valueOf(refused.getMessage())
            .contains("e2 has no address 10.2.0.213, which must represent a host"),
        refused.getMessage());
    run(0, List.of("ip addr add 10.2.0.213/32 dev e2"));
    reload(more);
    unknown.sendNumber(standIn, 5, 6, 7, 6);
    await(server::receive);
    assertEquals(address("10.2.0.213"), server.from());
    assertEquals(0, unicast().clients().getLast().pairs(), "earlier pairs were cleared");

    /* The host gets another proxy address, and its existing pairs use that address too. */
    List<String> moved = new ArrayList<>(PROXIES);
    moved.remove("[proxy b 10.2.0.210]\nfor = 10.1.0.10");
    moved.add("[proxy b 10.2.0.213]\nfor = 10.1.0.10");
    reload(moved);
    known.sendNumber(standIn, 5, 6, 7, 7);
    await(server::receive);
    assertEquals(address("10.2.0.213"), server.from());
  }

  @Test
  void reliableConnectionIsRejectedFromRequestedAddress() {
    DatagramEnd a = endAt(HOST_A, "10.1.0.10");
    SidrRequest.write(a.payload(), 0xabc, 0x1234, CmaHeader.datagramService(7000));
    Memory.ALL.set(Memory.NETWORK_SHORT, a.payload() + 16, (short) 0x10);
    a.sendMad(address("10.1.0.200"));
    await(a::receive);
    assertEquals(address("10.1.0.200"), a.from());
    assertEquals(
        CmMessage.CONNECT_REJECT,
        ManagementDatagram.messageOf(a.payload(), ManagementDatagram.BYTES));
  }
}
