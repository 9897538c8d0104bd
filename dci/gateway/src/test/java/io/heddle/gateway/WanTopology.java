package io.heddle.gateway;

import io.heddle.platform.testing.NetworkNamespace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
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

  private final Deque<NetworkNamespace> all = new ArrayDeque<>();
  final NetworkNamespace h1 = make("h1");
  final NetworkNamespace gw1 = make("gw1");
  final NetworkNamespace pe = make("pe");
  final List<NetworkNamespace> p = List.of(make("p1"), make("p2"), make("p3"));
  final NetworkNamespace gw2 = make("gw2");
  final NetworkNamespace h2 = make("h2");

  WanTopology() {
    try {
      setUp();
    } catch (RuntimeException failed) {
      close();
      throw failed;
    }
  }

  private NetworkNamespace make(String label) {
    NetworkNamespace made = NetworkNamespace.create(label);
    all.push(made);
    made.call(() -> {
      for (String each : List.of("all/forwarding", "all/seg6_enabled", "default/seg6_enabled")) {
        sysctl("ipv6/conf/" + each, "1");
      }
      sysctl("ipv6/conf/default/accept_dad", "0");
      sysctl("ipv4/ip_forward", "1");
      return null;
    });
    made.ip("link set lo up");
    return made;
  }

  private static void sysctl(String name, String value) throws IOException {
    Files.writeString(Path.of("/proc/sys/net").resolve(name), value + "\n");
  }

  private static void link(NetworkNamespace a, String aName, NetworkNamespace b, String bName) {
    a.ip(
        "link add %s mtu 9000 type veth peer name %s mtu 9000 netns %s"
            .formatted(aName, bName, b.name()),
        "link set " + aName + " up");
    b.ip("link set " + bName + " up");
  }

  private static void address(NetworkNamespace of, String address, String device) {
    of.ip("addr add " + address + "/64 dev " + device + " nodad");
  }

  private void setUp() {
    link(h1, "lan", gw1, "lan");
    address(h1, SOURCE, "lan");
    address(gw1, "fc00:1::ff", "lan");
    h1.ip("route add default via fc00:1::ff dev lan");
    link(h2, "lan", gw2, "lan");
    address(h2, DESTINATION, "lan");
    address(h2, PE_DESTINATION, "lan");
    address(gw2, "fc00:2::ff", "lan");
    address(gw2, "fc00:2:0:4::ff", "lan");
    h2.ip("route add default via fc00:2::ff dev lan");
    gw2.ip("route add 5f00:0:99::d6/128 encap seg6local action End.DT6 table 254 dev lan");
    ipv4();
    link(gw1, "w4", pe, "west");
    address(gw1, "fc00:14::1", "w4");
    address(pe, "fc00:14::2", "west");
    StringBuilder paths = new StringBuilder("route add 5f00:0:99::/48");
    for (int i = 1; i <= PATHS; i++) {
      NetworkNamespace node = p.get(i - 1);
      link(gw1, "w" + i, node, "west");
      address(gw1, "fc00:1" + i + "::1", "w" + i);
      address(node, "fc00:1" + i + "::2", "west");
      link(node, "east", gw2, "e" + i);
      address(node, "fc00:2" + i + "::1", "east");
      address(gw2, "fc00:2" + i + "::2", "e" + i);
      link(pe, "p" + i, node, "pe");
      address(pe, "fc00:3" + i + "::1", "p" + i);
      address(node, "fc00:3" + i + "::2", "pe");
      node.ip(
          "route add 5f00:0:" + i + "::1/128 encap seg6local action End dev west",
          "route add 5f00:0:99::/48 via fc00:2" + i + "::2 dev east");
      paths.append(" nexthop via fc00:3" + i + "::2 dev p" + i);
    }
    pe.ip(paths.toString());
    /* Creates the return path for answers to probes. */
    gw2.ip("route add local fc00:2::ff dev lo table 254");
    gw2.ip("route add fc00:1::/64 via fc00:21::1 dev e1");
    p.getFirst().ip("route add fc00:1::/64 via fc00:11::1 dev west");
  }

  private void ipv4() {
    h1.ip("addr add " + SOURCE_IPV4 + "/24 dev lan", "route add 10.2.0.0/24 via 10.1.0.254");
    gw1.ip("addr add 10.1.0.254/24 dev lan");
    h2.ip("addr add " + DESTINATION_IPV4 + "/24 dev lan", "route add 10.1.0.0/24 via 10.2.0.254");
    gw2.ip(
        "addr add 10.2.0.254/24 dev lan",
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
    while (!all.isEmpty()) {
      all.pop().close();
    }
  }
}
