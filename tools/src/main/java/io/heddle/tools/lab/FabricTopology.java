package io.heddle.tools.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Topology of a fabric: the nodes, links, names and addresses that follow from its plan. The prefix
 * of host {@code h} on plane {@code p} is {@code fd00:<leaf>:<port>:<plane>::/64}. So the low 16
 * bits of a prefix are the plane, and the first 32 bits determine the leaf.
 */
final class FabricTopology {
  /** Role of a node. */
  enum Role {
    LEAF("l"),
    SPINE("s"),
    HOST("h"),

    /**
     * BIRD router behind an FRR leaf, if planes are separate networks. It makes the plane's
     * announcements, since FRR can't set every community.
     */
    CORE("c");

    private final String letter;

    Role(String letter) {
      this.letter = letter;
    }
  }

  /** Node of the fabric, which has its own namespace. */
  record Node(Role role, int number) {
    String name() {
      return role.letter + number;
    }
  }

  /** One end of a link. */
  record End(Node node, String interfaceName) {}

  /**
   * Link of the fabric, a veth pair.
   *
   * @param plane number of the only plane whose traffic crosses the link; 0 for the link of a host
   *     that has one link for all planes
   * @param leaf end at the leaf
   * @param far end at the spine, the host or the core
   */
  record Link(int plane, End leaf, End far) {
    boolean isTrunk() {
      return far.node().role() == Role.SPINE;
    }

    boolean isPort() {
      return far.node().role() == Role.HOST;
    }

    /** Returns the end at which received traffic counts as the plane's traffic. */
    End counted() {
      return isTrunk() ? far : leaf;
    }
  }

  private final FabricPlan plan;

  FabricTopology(FabricPlan plan) {
    this.plan = plan;
  }

  FabricPlan plan() {
    return plan;
  }

  private boolean hasSpines() {
    return plan.shape() == FabricShape.LEAF_SPINE;
  }

  List<Node> nodes(Role role) {
    return switch (role) {
      case LEAF -> nodes(role, plan.leaves());
      case SPINE -> nodes(role, plan.spines());
      case HOST -> nodes(role, plan.hosts());
      case CORE -> hasCore() ? List.of(new Node(role, plan.leaves())) : List.of();
    };
  }

  private static List<Node> nodes(Role role, int count) {
    List<Node> nodes = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      nodes.add(new Node(role, number));
    }
    return nodes;
  }

  private boolean hasCore() {
    return plan.frr() && !hasSpines();
  }

  List<Node> routers() {
    List<Node> routers = new ArrayList<>(nodes(Role.LEAF));
    routers.addAll(nodes(Role.SPINE));
    routers.addAll(nodes(Role.CORE));
    return routers;
  }

  List<Node> nodes() {
    List<Node> nodes = routers();
    nodes.addAll(nodes(Role.HOST));
    return nodes;
  }

  /** Returns the spine that a plane crosses. */
  int spine(int plane) {
    return (plane - 1) / plan.links() + 1;
  }

  private String linkLetter(int plane) {
    return plan.links() == 1 ? "" : String.valueOf((char) ('a' + (plane - 1) % plan.links()));
  }

  /** Returns a leaf's interface to the spine of this plane: s3, or s3b for the second link. */
  String trunkName(int plane) {
    return "s" + spine(plane) + linkLetter(plane);
  }

  /** Returns the plane that a leaf or core announces if planes share no spines; else 0. */
  int announcedPlane(Node router) {
    if (hasSpines()) {
      return 0;
    }
    return router.number();
  }

  /** Returns the links between leaves and spines. */
  List<Link> trunks() {
    List<Link> trunks = new ArrayList<>();
    if (hasSpines()) {
      for (Node leaf : nodes(Role.LEAF)) {
        for (int plane = 1; plane <= plan.planes(); plane++) {
          trunks.add(
              new Link(
                  plane,
                  new End(leaf, trunkName(plane)),
                  new End(new Node(Role.SPINE, spine(plane)), leaf.name() + linkLetter(plane))));
        }
      }
    }
    return trunks;
  }

  /** Returns the links between leaves and hosts. */
  List<Link> ports() {
    List<Link> ports = new ArrayList<>();
    for (Node host : nodes(Role.HOST)) {
      if (hasSpines()) {
        ports.add(new Link(0, new End(leafOf(host), host.name()), new End(host, "e0")));
      } else {
        for (Node leaf : nodes(Role.LEAF)) {
          int plane = leaf.number();
          ports.add(new Link(plane, new End(leaf, host.name()), new End(host, "e" + plane)));
        }
      }
    }
    return ports;
  }

  List<Link> links() {
    List<Link> links = new ArrayList<>(trunks());
    links.addAll(ports());
    for (Node core : nodes(Role.CORE)) {
      Node leaf = new Node(Role.LEAF, plan.leaves());
      links.add(new Link(0, new End(leaf, core.name()), new End(core, leaf.name())));
    }
    return links;
  }

  /** Returns whether this router is FRR: the last leaf may be, all others are BIRD. */
  boolean isFrr(Node router) {
    return plan.frr() && router.equals(new Node(Role.LEAF, plan.leaves()));
  }

  /** Returns the links that carry one plane each; these are shaped, cut and counted. */
  List<Link> planeLinks() {
    return links().stream().filter(link -> link.plane() > 0).toList();
  }

  /**
   * Returns the node with a name.
   *
   * @throws LabException if no node has this name; the message lists all names
   */
  Node node(String name) {
    return nodes().stream()
        .filter(node -> node.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new LabException(
                "the lab has no '"
                    + name
                    + "'; it has "
                    + String.join(", ", nodes().stream().map(Node::name).toList())));
  }

  /**
   * Verifies that a plane exists.
   *
   * @throws LabException if there is no such plane
   */
  void requirePlane(int plane) {
    if (plane < 1 || plane > plan.planes()) {
      throw new LabException("the lab has no plane " + plane + "; it has 1 to " + plan.planes());
    }
  }

  /**
   * Returns a plane's links at one node, or all of them.
   *
   * @param at name of the node; {@code all} for every link
   * @throws LabException if there is no such plane or node, or no link of the plane there
   */
  List<Link> linksOf(int plane, String at) {
    requirePlane(plane);
    List<Link> all = planeLinks().stream().filter(link -> link.plane() == plane).toList();
    if (at.equals("all")) {
      return all;
    }
    Node node = node(at);
    List<Link> chosen =
        all.stream()
            .filter(link -> link.leaf().node().equals(node) || link.far().node().equals(node))
            .toList();
    if (chosen.isEmpty()) {
      throw new LabException(
          at
              + " has no link of plane "
              + plane
              + " alone; its links end at "
              + String.join(
                  ", ",
                  all.stream()
                      .flatMap(link -> Stream.of(link.leaf().node(), link.far().node()))
                      .map(Node::name)
                      .distinct()
                      .toList()));
    }
    return chosen;
  }

  /**
   * Returns the only leaf of a host. Invalid if planes are separate networks, since a host then has
   * one leaf per plane.
   */
  Node leafOf(Node host) {
    return new Node(Role.LEAF, (host.number() - 1) % plan.leaves() + 1);
  }

  /** Returns the expected number of BGP sessions of a router with other routers. */
  int sessions(Node router) {
    boolean withCore = router.role() == Role.CORE || isFrr(router) && hasCore();
    return trunksOf(router).size() + (withCore ? 1 : 0);
  }

  List<Link> portsOf(Node leaf) {
    return ports().stream().filter(port -> port.leaf().node().equals(leaf)).toList();
  }

  List<Link> trunksOf(Node router) {
    return trunks().stream()
        .filter(link -> link.leaf().node().equals(router) || link.far().node().equals(router))
        .toList();
  }

  /** Returns the planes on which a host has a prefix at this port. */
  List<Integer> planesOf(Link port) {
    if (port.plane() > 0) {
      return List.of(port.plane());
    }
    List<Integer> planes = new ArrayList<>();
    for (int plane = 1; plane <= plan.planes(); plane++) {
      planes.add(plane);
    }
    return planes;
  }

  private String subnet(Node host, int plane) {
    int leaf = hasSpines() ? leafOf(host).number() : plane;
    int port = hasSpines() ? (host.number() - 1) / plan.leaves() + 1 : host.number();
    return String.format(Locale.ROOT, "fd00:%x:%x:%x", leaf, port, plane);
  }

  /** Returns a host's prefix on a plane. */
  String prefix(Node host, int plane) {
    return subnet(host, plane) + "::/64";
  }

  /** Returns the address of the leaf on the host's port, without prefix length. */
  String gateway(Node host, int plane) {
    return subnet(host, plane) + "::1";
  }

  String macAddress(Link port) {
    return String.format(
        Locale.ROOT,
        "02:00:00:00:%02x:%02x",
        port.far().node().number(),
        Math.max(port.plane(), 1));
  }

  /**
   * Returns the address that the host's kernel forms from the prefix and the port's MAC address
   * (EUI-64).
   */
  String address(Node host, int plane) {
    int last = hasSpines() ? 1 : plane;
    return subnet(host, plane)
        + String.format(Locale.ROOT, ":0:ff:fe00:%x", host.number() << 8 | last);
  }

  /**
   * Returns the aggregate prefix that a plane announces for all its hosts, if planes are separate
   * networks.
   */
  static String aggregate(int plane) {
    return String.format(Locale.ROOT, "fd00:%x::/32", plane);
  }

  static int leafAs(Node leaf) {
    return 65_100 + leaf.number();
  }

  static int spineAs(Node spine) {
    return 65_200 + spine.number();
  }

  static int coreAs(Node core) {
    return 65_300 + core.number();
  }

  static String routerId(Node router) {
    int third =
        switch (router.role()) {
          case LEAF -> 1;
          case SPINE -> 2;
          case CORE -> 3;
          case HOST -> 4;
        };
    return "10.0." + third + "." + router.number();
  }
}
