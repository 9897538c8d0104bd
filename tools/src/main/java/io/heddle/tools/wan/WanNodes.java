package io.heddle.tools.wan;

import io.heddle.platform.NetworkTopology;
import java.util.List;

/**
 * Two data centres and a WAN in network namespaces. Every node runs the kernel's SRv6, and a
 * management network connects gateways, P nodes and controller:
 *
 * <pre>
 *  h1 ── gw1 ─ w1 ── p1 ── w1 ─ gw2 ── h2      each P node has the segment 5f00:0:N::1 (End)
 *            ├ w2 ── p2 ── w2 ─┤               gw1 has 5f00:0:98::d6, gw2 5f00:0:99::d6 (End.DT6)
 *            ├ w3 ── p3 ── w3 ─┘
 *            └ w4 ── pe ── p1 | p2 | p3         the PE balances by the outer flow label
 *  gw1 ─ ctl ─ gw2                             the controller is fd00:c:1::2 and fd00:c:2::2
 *         ├─ p1 | p2 | p3                      which report their links
 * </pre>
 */
final class WanNodes {
  static final int PATHS = 3;
  static final String SOURCE = "fc00:1::1";
  static final String DESTINATION = "fc00:2::2";

  /**
   * A second address of the host of {@link #DESTINATION}. A policy sends traffic for this address
   * through the PE.
   */
  static final String PE_DESTINATION = "fc00:2:0:4::2";

  static final String H1 = "h1";
  static final String H2 = "h2";
  static final String CONTROLLER = "ctl";
  private static final String PE = "pe";
  private static final int SIDES = 2;
  private static final String[] SETTINGS = {
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.all.seg6_enabled=1",
    "net.ipv6.conf.default.seg6_enabled=1",
    "net.ipv6.conf.default.accept_dad=0"
  };

  private WanNodes() {}

  /** Returns the declaration of the nodes. */
  static NetworkTopology declared() {
    NetworkTopology net = new NetworkTopology();
    for (String each : List.of(H1, H2, gateway(1), gateway(2), CONTROLLER, PE, "p1", "p2", "p3")) {
      net.node(each, SETTINGS);
    }
    for (int side = 1; side <= SIDES; side++) {
      declareSide(net, side);
    }
    for (int i = 1; i <= PATHS; i++) {
      net.ip(
          router(i),
          "route add 5f00:0:%s::1/128 encap seg6local action End dev side1".formatted(i));
      link(
          net,
          router(i) + " mgmt",
          routerManagement(i),
          CONTROLLER + " mgmtp" + i,
          "fd00:c:1" + i + "::2");
    }
    declarePe(net);
    return net;
  }

  static String gateway(int side) {
    return "gw" + side;
  }

  /**
   * Returns a gateway's address on its management link. The controller's address on that link ends
   * in 2 instead of 1.
   */
  static String management(int side) {
    return "fd00:c:" + side + "::1";
  }

  /** Returns the address of a P node on the management network. */
  static String routerManagement(int path) {
    return "fd00:c:1" + path + "::1";
  }

  static String router(int path) {
    return "p" + path;
  }

  static String controller(int side) {
    return "fd00:c:" + side + "::2";
  }

  private static void link(
      NetworkTopology net, String one, String address, String other, String otherAddress) {
    net.link(one + " mtu 9000", address + "/64", other + " mtu 9000", otherAddress + "/64");
  }

  private static void declareSide(NetworkTopology net, int side) {
    String host = "h" + side;
    String gateway = gateway(side);
    String router = "fc00:" + side + "::ff";
    int segment = side == 1 ? 98 : 99;
    link(net, host + " lan", "fc00:" + side + "::" + side, gateway + " lan", router);
    net.ip(host, "route add default via " + router + " dev lan");
    net.ip(
        gateway,
        "route add 5f00:0:%s::d6/128 encap seg6local action End.DT6 table 254 dev lan"
            .formatted(segment));
    link(net, gateway + " mgmt", management(side), CONTROLLER + " mgmt" + side, controller(side));
    for (int i = 1; i <= PATHS; i++) {
      String subnet = "fc00:" + side + i + "::";
      link(net, gateway + " w" + i, subnet + 1, router(i) + " side" + side, subnet + 2);
      net.ip(
          router(i),
          "route add 5f00:0:%s::/48 via %s1 dev side%s".formatted(segment, subnet, side));
    }
  }

  private static void declarePe(NetworkTopology net) {
    link(net, gateway(1) + " w4", "fc00:14::1", PE + " west", "fc00:14::2");
    StringBuilder paths = new StringBuilder("route add 5f00:0:99::/48");
    for (int i = 1; i <= PATHS; i++) {
      String subnet = "fc00:3" + i + "::";
      link(net, PE + " p" + i, subnet + 1, router(i) + " " + PE, subnet + 2);
      paths.append(" nexthop via %s2 dev p%s".formatted(subnet, i));
    }
    net.ip(PE, paths.toString());
    net.address(H2, "lan", PE_DESTINATION + "/64");
    net.address(gateway(2), "lan", "fc00:2:0:4::ff/64");
  }
}
