package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkTopology;
import io.heddle.tools.lab.FabricTopology.End;
import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Network namespaces of a fabric with their veth pairs, addresses, shaping and cuts. */
final class FabricLinks {
  /**
   * Smallest burst size of a shaped link in bytes. A segment train of the soft device fits into it,
   * so that the train isn't split. The burst size of fast links is 0.5 ms of the rate.
   */
  private static final long LEAST_BURST_BYTES = 128 * 1024;

  private static final long LEAST_QUEUE_BYTES = 256 * 1024;
  private static final String[] ROUTER = {
    "net.ipv6.conf.all.forwarding=1",
    "net.ipv6.conf.default.forwarding=1",
    "net.ipv6.fib_multipath_hash_policy=1",
    "net.ipv6.conf.default.accept_ra=0",
    "net.ipv6.conf.default.accept_dad=0",
    "net.ipv6.conf.default.addr_gen_mode=1"
  };
  private static final String[] HOST = {
    "net.ipv6.conf.default.accept_ra=1",
    "net.ipv6.conf.default.autoconf=1",
    "net.ipv6.conf.default.addr_gen_mode=0",
    "net.ipv6.conf.default.use_tempaddr=0",
    "net.ipv6.conf.default.router_solicitation_delay=0",
    "net.ipv6.conf.default.dad_transmits=0"
  };

  private final FabricTopology topology;
  private final String prefix;

  FabricLinks(FabricTopology topology, String name) {
    this.topology = topology;
    this.prefix = prefix(name);
  }

  static String prefix(String name) {
    return "heddle-" + name + "-";
  }

  String namespace(Node node) {
    return prefix + node.name();
  }

  private NetworkNamespace at(Node node) {
    return new NetworkNamespace(namespace(node));
  }

  List<String> inside(Node node, List<String> command) {
    return at(node).command(command);
  }

  /** Creates everything except the daemons. Hosts' ports stay down until {@link #raiseHosts}. */
  void create() {
    NetworkTopology declared = new NetworkTopology();
    for (Node node : topology.nodes()) {
      declared.node(node.name(), node.role() == Role.HOST ? HOST : ROUTER);
    }
    for (Link link : topology.links()) {
      Node far = link.far().node();
      declared.link(end(link.leaf()), end(link.far()) + (link.isPort() ? port(link) : ""));
      declared.ip(link.leaf().node().name(), addresses(link));
      if (!link.isPort()) {
        if (!link.isTrunk()) {
          declared.address(far.name(), device(link.far()), FrrConfig.CORE_ADDRESS + "/64");
        }
        declared.address(far.name(), device(link.far()), "fe80::2/64");
      }
    }
    declared.createLasting(prefix);
    for (int plane = 1; plane <= topology.plan().planes(); plane++) {
      shape(plane);
    }
  }

  private static String device(End end) {
    return end.interfaceName();
  }

  private static void add(Map<Node, List<String>> lines, Node node, String line) {
    lines.computeIfAbsent(node, key -> new ArrayList<>()).add(line);
  }

  private String end(End end) {
    return end.node().name() + " " + device(end) + " mtu " + topology.plan().mtuBytes();
  }

  private String port(Link link) {
    return " address " + topology.macAddress(link) + " down";
  }

  /*
   * Returns the commands that add the addresses of the leaf's end of a link. They are also needed
   * after a cut, since a link that goes down loses its static link-local address.
   */
  private List<String> addresses(Link link) {
    String device = device(link.leaf());
    List<String> lines = new ArrayList<>();
    lines.add("addr replace fe80::1/64 dev " + device + " nodad");
    if (link.isPort()) {
      for (int plane : topology.planesOf(link)) {
        String gateway = topology.gateway(link.far().node(), plane);
        lines.add("addr replace " + gateway + "/64 dev " + device + " nodad");
      }
    } else if (!link.isTrunk()) {
      lines.add("addr replace " + FrrConfig.LEAF_ADDRESS + "/64 dev " + device + " nodad");
    }
    return lines;
  }

  /** Sets the hosts' ports up, so that the hosts' kernels send router solicitations. */
  void raiseHosts() {
    for (Node host : topology.nodes(Role.HOST)) {
      List<String> lines = new ArrayList<>();
      for (Link port : topology.ports()) {
        if (port.far().node().equals(host)) {
          lines.add("link set " + device(port.far()) + " up");
          if (port.plane() > 0) {
            /*
             * The kernel would treat one default route per plane as equal routes. So each plane has
             * a route to its own aggregate prefix instead.
             */
            lines.add(
                "route add "
                    + FabricTopology.aggregate(port.plane())
                    + " via fe80::1 dev "
                    + device(port.far()));
          }
        }
      }
      at(host).ip(lines);
    }
  }

  /** Shapes both ends of a plane's links to its rate. */
  void shape(int plane) {
    Map<Node, List<String>> lines = new LinkedHashMap<>();
    for (Link link : topology.planeLinks()) {
      if (link.plane() == plane) {
        for (End end : List.of(link.leaf(), link.far())) {
          add(lines, end.node(), shaping(end, plane, topology.plan().rate(plane)));
        }
      }
    }
    lines.forEach(
        (node, own) -> at(node).run(List.of("tc", "-batch", "-"), String.join("\n", own) + "\n"));
  }

  /**
   * Returns the tc command that shapes one end of a plane's link. The queue's size follows from the
   * plane's full rate, even if {@code rate} is lower.
   */
  String shaping(End end, int plane, long rate) {
    long own = topology.plan().rate(plane);
    long burst = Math.max(LEAST_BURST_BYTES, own / 8 / 2_000);
    long queue = Math.max(LEAST_QUEUE_BYTES, own / 8 / 1_000 * topology.plan().queueMs()) + burst;
    return "qdisc replace dev "
        + device(end)
        + " root tbf rate "
        + rate
        + "bit burst "
        + burst
        + " limit "
        + queue;
  }

  /** Cuts a link so that both ends lose their carrier. */
  void cutCarrier(Link link) {
    at(link.leaf().node()).ip("link set " + device(link.leaf()) + " down");
  }

  /** Drops every packet in both directions while the carrier stays on. */
  void cutSilently(Link link) {
    String device = device(link.leaf());
    nft(
        link,
        """
        table inet %s {
          chain received { type filter hook prerouting priority -500; iifname "%s" drop; }
          chain sent { type filter hook postrouting priority 500; oifname "%s" drop; }
        }
        """
            .formatted(table(link), device, device));
  }

  /** Undoes both kinds of cut. Has no effect on a link that wasn't cut. */
  void restore(Link link) {
    nft(link, "add table inet " + table(link) + "\ndelete table inet " + table(link) + "\n");
    List<String> lines = new ArrayList<>(List.of("link set " + device(link.leaf()) + " up"));
    lines.addAll(addresses(link));
    at(link.leaf().node()).ip(lines);
  }

  static String table(Link link) {
    return "cut_" + device(link.leaf());
  }

  private void nft(Link link, String rules) {
    at(link.leaf().node()).run(List.of("nft", "-f", "-"), rules);
  }
}
