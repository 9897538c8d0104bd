package io.heddle.tools.lab;

import io.heddle.cli.kit.Shell;
import io.heddle.tools.lab.FabricTopology.End;
import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Network namespaces of a fabric with their veth pairs, addresses, shaping and cuts. */
final class FabricLinks {
  private static final Path NAMES = Path.of("/run/netns");

  /**
   * Smallest burst size of a shaped link in bytes. A segment train of the soft device fits into it,
   * so that the train isn't split. The burst size of fast links is 0.5 ms of the rate.
   */
  private static final long LEAST_BURST_BYTES = 128 * 1024;

  private static final long LEAST_QUEUE_BYTES = 256 * 1024;
  private static final List<String> ROUTER =
      List.of(
          "net.ipv6.conf.all.forwarding=1",
          "net.ipv6.conf.default.forwarding=1",
          "net.ipv6.fib_multipath_hash_policy=1",
          "net.ipv6.conf.default.accept_ra=0",
          "net.ipv6.conf.default.accept_dad=0",
          "net.ipv6.conf.default.addr_gen_mode=1");
  private static final List<String> HOST =
      List.of(
          "net.ipv6.conf.default.accept_ra=1",
          "net.ipv6.conf.default.autoconf=1",
          "net.ipv6.conf.default.addr_gen_mode=0",
          "net.ipv6.conf.default.use_tempaddr=0",
          "net.ipv6.conf.default.router_solicitation_delay=0",
          "net.ipv6.conf.default.dad_transmits=0");

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

  /**
   * Returns the existing namespaces of the fabric with this name. They are found by name, so the
   * fabric's plan isn't needed.
   */
  static List<String> namespaces(String name) {
    if (!Files.isDirectory(NAMES)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(NAMES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.startsWith(prefix(name)))
          .sorted()
          .toList();
    } catch (IOException unreadable) {
      throw new LabException("can't list " + NAMES + ": " + unreadable, unreadable);
    }
  }

  List<String> inside(Node node, List<String> command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", namespace(node)));
    whole.addAll(command);
    return whole;
  }

  /** Creates everything except the daemons. Hosts' ports stay down until {@link #raiseHosts}. */
  void create() {
    for (Node node : topology.nodes()) {
      Shell.run(List.of("ip", "netns", "add", namespace(node)));
      List<String> sysctl = new ArrayList<>(List.of("sysctl", "-qw"));
      sysctl.addAll(node.role() == Role.HOST ? HOST : ROUTER);
      Shell.run(inside(node, sysctl));
    }
    Map<Node, List<String>> pairs = new LinkedHashMap<>();
    Map<Node, List<String>> ends = new LinkedHashMap<>();
    for (Node node : topology.nodes()) {
      add(ends, node, "link set lo up");
    }
    for (Link link : topology.links()) {
      add(pairs, link.leaf().node(), pair(link));
      raise(link).forEach(line -> add(ends, link.leaf().node(), line));
      if (!link.isPort()) {
        if (!link.isTrunk()) {
          add(
              ends,
              link.far().node(),
              "addr add " + FrrConfig.CORE_ADDRESS + "/64 dev " + device(link.far()) + " nodad");
        }
        add(ends, link.far().node(), "addr add fe80::2/64 dev " + device(link.far()) + " nodad");
        add(ends, link.far().node(), "link set " + device(link.far()) + " up");
      }
    }
    pairs.forEach((node, lines) -> batch("ip", node, lines));
    ends.forEach((node, lines) -> batch("ip", node, lines));
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

  private void batch(String program, Node node, List<String> lines) {
    Shell.run(
        List.of(program, "-n", namespace(node), "-batch", "-"), String.join("\n", lines) + "\n");
  }

  private String pair(Link link) {
    int mtu = topology.plan().mtuBytes();
    return "link add "
        + device(link.leaf())
        + " mtu "
        + mtu
        + " type veth peer name "
        + device(link.far())
        + " mtu "
        + mtu
        + (link.isPort() ? " address " + topology.macAddress(link) : "")
        + " netns "
        + namespace(link.far().node());
  }

  /*
   * Returns the commands that set the leaf's end of a link up and add its addresses. They are also
   * needed after a cut, since a link that goes down loses its static link-local address.
   */
  private List<String> raise(Link link) {
    String device = device(link.leaf());
    List<String> lines = new ArrayList<>();
    lines.add("link set " + device + " up");
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
      batch("ip", host, lines);
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
    lines.forEach((node, own) -> batch("tc", node, own));
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
    Shell.run(
        List.of(
            "ip", "-n", namespace(link.leaf().node()), "link", "set", device(link.leaf()), "down"));
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
    batch("ip", link.leaf().node(), raise(link));
  }

  static String table(Link link) {
    return "cut_" + device(link.leaf());
  }

  private void nft(Link link, String rules) {
    Shell.run(inside(link.leaf().node(), List.of("nft", "-f", "-")), rules);
  }
}
