package io.heddle.gateway;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import java.util.List;

/**
 * Test network of two data centres and a WAN in network namespaces, all with the kernel's SRv6:
 *
 * <pre>
 *  h1 ── gw1 ─ w1 ── p1 ── e1 ─ gw2 ── h2      each P node has the segment 5f00:0:N::1 (End)
 *            ├ w2 ── p2 ── e2 ─┤                gw2 has 5f00:0:99::d6 (End.DT6) and ::d4 (End.DX4)
 *            ├ w3 ── p3 ── e3 ─┤
 *            └ w4 ── pe ── p1 | p2 | p3         the PE hashes the outer flow label
 * </pre>
 */
final class WanTopology implements AutoCloseable {
  static final int PATHS = 3;
  static final int FIRST_IPV4_LIST = 5;
  static final String SOURCE = "fc00:1::1";
  static final String DESTINATION = "fc00:2::2";

  /** Second address of host h2. The policy for it has a list through the PE. */
  static final String PE_DESTINATION = "fc00:2:0:4::2";

  /** IPv4 address of host h1. The WAN between the gateways has no IPv4 addresses. */
  static final String SOURCE_IPV4 = "10.1.0.1";

  static final String DESTINATION_IPV4 = "10.2.0.2";

  private static final String[] SETTINGS = {
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.all.seg6_enabled=1",
    "net.ipv6.conf.default.seg6_enabled=1",
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv4.ip_forward=1"
  };

  private final NetworkNamespaces net = declared().create();
  final NetworkNamespace h1 = net.node("h1");
  final NetworkNamespace gw1 = net.node("gw1");
  final List<NetworkNamespace> p = List.of(net.node("p1"), net.node("p2"), net.node("p3"));
  final NetworkNamespace gw2 = net.node("gw2");
  final NetworkNamespace h2 = net.node("h2");

  private static void link(
      NetworkTopology net, String one, String address, String other, String otherAddress) {
    net.link(one + " mtu 9000", address + "/64", other + " mtu 9000", otherAddress + "/64");
  }

  private static NetworkTopology declared() {
    NetworkTopology net = new NetworkTopology();
    for (String each : List.of("h1", "gw1", "pe", "p1", "p2", "p3", "gw2", "h2")) {
      net.node(each, SETTINGS);
    }
    link(net, "h1 lan", SOURCE, "gw1 lan", "fc00:1::ff");
    net.ip("h1", "route add default via fc00:1::ff dev lan");
    link(net, "h2 lan", DESTINATION, "gw2 lan", "fc00:2::ff");
    net.address("h2", "lan", PE_DESTINATION + "/64");
    net.address("gw2", "lan", "fc00:2:0:4::ff/64");
    net.ip("h2", "route add default via fc00:2::ff dev lan");
    net.ip("gw2", "route add 5f00:0:99::d6/128 encap seg6local action End.DT6 table 254 dev lan");
    declareIpv4(net);
    link(net, "gw1 w4", "fc00:14::1", "pe west", "fc00:14::2");
    StringBuilder paths = new StringBuilder("route add 5f00:0:99::/48");
    for (int i = 1; i <= PATHS; i++) {
      String node = "p" + i;
      link(net, "gw1 w" + i, "fc00:1" + i + "::1", node + " west", "fc00:1" + i + "::2");
      link(net, node + " east", "fc00:2" + i + "::1", "gw2 e" + i, "fc00:2" + i + "::2");
      link(net, "pe " + node, "fc00:3" + i + "::1", node + " pe", "fc00:3" + i + "::2");
      net.ip(
          node,
          "route add 5f00:0:" + i + "::1/128 encap seg6local action End dev west",
          "route add 5f00:0:99::/48 via fc00:2" + i + "::2 dev east");
      paths.append(" nexthop via fc00:3" + i + "::2 dev " + node);
    }
    net.ip("pe", paths.toString());
    /* Declares the return path for answers to probes. */
    net.ip("gw2", "route add local fc00:2::ff dev lo table 254");
    net.ip("gw2", "route add fc00:1::/64 via fc00:21::1 dev e1");
    return net.ip("p1", "route add fc00:1::/64 via fc00:11::1 dev west");
  }

  private static void declareIpv4(NetworkTopology net) {
    net.address("h1", "lan", SOURCE_IPV4 + "/24");
    net.ip("h1", "route add 10.2.0.0/24 via 10.1.0.254");
    net.address("gw1", "lan", "10.1.0.254/24");
    net.address("h2", "lan", DESTINATION_IPV4 + "/24");
    net.ip("h2", "route add 10.1.0.0/24 via 10.2.0.254");
    net.address("gw2", "lan", "10.2.0.254/24");
    net.ip(
        "gw2",
        "route add 5f00:0:99::d4/128 encap seg6local action End.DX4 nh4 %s dev lan"
            .formatted(DESTINATION_IPV4));
  }

  /**
   * Returns the gateway's configuration, with three lists to one destination, and one list through
   * the PE to another.
   */
  static List<String> config(String more) {
    StringBuilder text =
        new StringBuilder(
            """
            lan = lan
            seed = 24301
            """);
    text.append(more).append('\n');
    text.append("[policy direct]\ndestination = fc00:2::/64\ncolour = 100\n");
    text.append("[policy spread]\ndestination = fc00:2:0:4::/64\n");
    text.append("[policy ipv4]\ndestination = 10.2.0.0/24\n");
    for (int i = 1; i <= PATHS; i++) {
      text.append(
          """
          [list sl%1$s]
          policy = direct
          id = %1$s
          segments = 5f00:0:%1$s::1, 5f00:0:99::d6
          device = w%1$s
          via = fc00:1%1$s::2
          """
              .formatted(i));
    }
    text.append(
        """
        [list wide]
        policy = spread
        id = 4
        segments = 5f00:0:99::d6
        device = w4
        via = fc00:14::2
        """);
    for (int i = 1; i <= PATHS; i++) {
      text.append(
          """
          [list four%1$s]
          policy = ipv4
          id = %2$s
          segments = 5f00:0:%1$s::1, 5f00:0:99::d4
          device = w%1$s
          via = fc00:1%1$s::2
          """
              .formatted(i, FIRST_IPV4_LIST + i - 1));
    }
    return text.toString().lines().toList();
  }

  @Override
  public void close() {
    net.close();
  }
}
