package io.heddle.tools.wan;

import io.heddle.platform.HeddleException;
import io.heddle.tools.wan.host.Commands;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
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
final class WanNodes implements AutoCloseable {
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
  private static final String RULES =
      "net.ipv6.conf.all.forwarding=1 net.ipv6.conf.all.seg6_enabled=1"
          + " net.ipv6.conf.default.seg6_enabled=1 net.ipv6.conf.default.accept_dad=0";

  private final String prefix = "hdwan" + ProcessHandle.current().pid() + "-";
  private final Deque<String> made = new ArrayDeque<>();
  private boolean closed;

  /**
   * Creates and connects the nodes. If {@link #close} is called meanwhile, it removes the nodes
   * that exist, and the set-up creates no more.
   *
   * @throws HeddleException if a command fails, or the nodes were closed meanwhile
   */
  void setUp() {
    for (String each : List.of(H1, H2, gateway(1), gateway(2), CONTROLLER, PE, "p1", "p2", "p3")) {
      add(each);
    }
    connect();
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

  /** Returns the name of a node's namespace. */
  String namespace(String node) {
    return prefix + node;
  }

  /* Adds a node. Synchronized with close, which an interrupt may call during the set-up. */
  private synchronized void add(String node) {
    if (closed) {
      throw new HeddleException("the demo was ended while it was set up");
    }
    Commands.run(List.of("ip", "netns", "add", namespace(node)));
    made.push(node);
    run(node, "sysctl", "-q", "-w", RULES);
    ip(node, "link set lo up");
  }

  /** Runs a command at a node and returns its output. */
  String run(String node, String... words) {
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", namespace(node)));
    for (String each : words) {
      command.addAll(List.of(each.split(" ")));
    }
    return Commands.run(command);
  }

  void ip(String node, String... lines) {
    Commands.run(
        java.nio.file.Path.of("."),
        List.of("ip", "-n", namespace(node), "-batch", "-"),
        String.join("\n", lines) + "\n");
  }

  private void link(String a, String aName, String b, String bName) {
    ip(
        a,
        "link add %s mtu 9000 type veth peer name %s mtu 9000 netns %s"
            .formatted(aName, bName, namespace(b)),
        "link set " + aName + " up");
    ip(b, "link set " + bName + " up");
  }

  private void address(String node, String address, String device) {
    ip(node, "addr add " + address + "/64 dev " + device + " nodad");
  }

  private void connect() {
    for (int side = 1; side <= SIDES; side++) {
      String host = "h" + side;
      link(host, "lan", gateway(side), "lan");
      address(host, "fc00:" + side + "::" + side, "lan");
      address(gateway(side), "fc00:" + side + "::ff", "lan");
      ip(host, "route add default via fc00:" + side + "::ff dev lan");
      ip(
          gateway(side),
          "route add 5f00:0:9%s::d6/128 encap seg6local action End.DT6 table 254 dev lan"
              .formatted(side == 1 ? 8 : 9));
      link(gateway(side), "mgmt", CONTROLLER, "mgmt" + side);
      address(gateway(side), management(side), "mgmt");
      address(CONTROLLER, controller(side), "mgmt" + side);
      for (int i = 1; i <= PATHS; i++) {
        link(gateway(side), "w" + i, "p" + i, "side" + side);
        address(gateway(side), "fc00:%s%s::1".formatted(side, i), "w" + i);
        address("p" + i, "fc00:%s%s::2".formatted(side, i), "side" + side);
        ip(
            "p" + i,
            "route add 5f00:0:9%s::/48 via fc00:%s%s::1 dev side%s"
                .formatted(side == 1 ? 8 : 9, side, i, side));
      }
    }
    for (int i = 1; i <= PATHS; i++) {
      ip("p" + i, "route add 5f00:0:%s::1/128 encap seg6local action End dev side1".formatted(i));
      link(router(i), "mgmt", CONTROLLER, "mgmtp" + i);
      address(router(i), routerManagement(i), "mgmt");
      address(CONTROLLER, "fd00:c:1" + i + "::2", "mgmtp" + i);
    }
    connectPe();
  }

  private void connectPe() {
    link(gateway(1), "w4", PE, "west");
    address(gateway(1), "fc00:14::1", "w4");
    address(PE, "fc00:14::2", "west");
    StringBuilder paths = new StringBuilder("route add 5f00:0:99::/48");
    for (int i = 1; i <= PATHS; i++) {
      link(PE, "p" + i, "p" + i, PE);
      address(PE, "fc00:3%s::1".formatted(i), "p" + i);
      address("p" + i, "fc00:3%s::2".formatted(i), PE);
      paths.append(" nexthop via fc00:3%1$s::2 dev p%1$s".formatted(i));
    }
    ip(PE, paths.toString());
    address(H2, PE_DESTINATION, "lan");
    address(gateway(2), "fc00:2:0:4::ff", "lan");
  }

  @Override
  public synchronized void close() {
    closed = true;
    HeddleException failure = null;
    while (!made.isEmpty()) {
      try {
        Commands.run(List.of("ip", "netns", "del", namespace(made.pop())));
      } catch (HeddleException failed) {
        failure = failed;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
