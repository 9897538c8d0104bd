package io.heddle.tools.lab;

import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import java.nio.file.Path;

/**
 * Configuration of FRR as a leaf. It peers by interface on every link and accepts prefix ORF from
 * hosts.
 *
 * <p>FRR 8 supports no AIGP and can't set a colour or a path bandwidth. So on a leaf–spine fabric
 * its routes are deterministic by policy: FRR prefers the route to each remote prefix over the
 * spine of the prefix's plane. It announces each prefix of its own hosts with a longer AS path to
 * all other spines. The spines add colour and bandwidth. If planes are separate networks, FRR
 * propagates the announcements of a BIRD behind it, the plane's core, and sends no AIGP to hosts.
 */
final class FrrConfig {
  /** Core's address on the link between core and leaf. */
  static final String CORE_ADDRESS = "fd00:fe::2";

  static final String LEAF_ADDRESS = "fd00:fe::1";

  private static final String BFD_PROFILE = "lab";

  private final FabricTopology topology;
  private final FabricPlan plan;
  private final Path folder;

  FrrConfig(FabricTopology topology, Path folder) {
    this.topology = topology;
    this.plan = topology.plan();
    this.folder = folder;
  }

  /**
   * Returns zebra's configuration, which sends router advertisements with the prefixes of each
   * host's port.
   */
  String zebra(Node leaf) {
    StringBuilder text = new StringBuilder();
    line(text, "hostname " + leaf.name());
    line(text, "log file " + folder.resolve(leaf.name() + ".zebra.log"));
    for (Link port : topology.portsOf(leaf)) {
      line(text, "interface " + port.leaf().interfaceName());
      line(text, " no ipv6 nd suppress-ra");
      line(text, " ipv6 nd ra-interval 3");
      line(text, " ipv6 nd ra-lifetime 1800");
      for (int plane : topology.planesOf(port)) {
        line(text, " ipv6 nd prefix " + topology.prefix(port.far().node(), plane) + " 86400 43200");
      }
    }
    return text.toString();
  }

  /**
   * Returns bfdd's configuration: BFD with the spines, with multiplier 3 as in BIRD's
   * configuration.
   */
  String bfdd(Node leaf) {
    StringBuilder text = new StringBuilder();
    line(text, "hostname " + leaf.name());
    line(text, "log file " + folder.resolve(leaf.name() + ".bfdd.log"));
    line(text, "bfd");
    line(text, " profile " + BFD_PROFILE);
    line(text, "  detect-multiplier 3");
    line(text, "  receive-interval " + plan.bfdMs());
    line(text, "  transmit-interval " + plan.bfdMs());
    return text.toString();
  }

  String bgpd(Node leaf) {
    StringBuilder text = new StringBuilder();
    line(text, "hostname " + leaf.name());
    line(text, "log file " + folder.resolve(leaf.name() + ".bgpd.log"));
    line(text, "router bgp " + FabricTopology.leafAs(leaf));
    line(text, " bgp router-id " + FabricTopology.routerId(leaf));
    line(text, " no bgp ebgp-requires-policy");
    line(text, " no bgp default ipv4-unicast");
    line(text, " no bgp network import-check");
    line(text, " bgp bestpath as-path multipath-relax");
    line(text, " timers bgp " + plan.holdSeconds() / 3 + " " + plan.holdSeconds());
    for (Link trunk : topology.trunksOf(leaf)) {
      String name = trunk.leaf().interfaceName();
      peer(text, name);
      if (plan.bfdMs() > 0) {
        line(text, " neighbor " + name + " bfd profile " + BFD_PROFILE);
      }
    }
    for (Link port : topology.portsOf(leaf)) {
      peer(text, port.leaf().interfaceName());
    }
    for (Node core : topology.nodes(Role.CORE)) {
      line(text, " neighbor " + CORE_ADDRESS + " remote-as " + FabricTopology.coreAs(core));
      line(text, " neighbor " + CORE_ADDRESS + " timers connect 1");
    }
    addressFamily(text, leaf);
    for (Link trunk : topology.trunksOf(leaf)) {
      maps(text, leaf, trunk.plane());
    }
    line(text, "ipv6 prefix-list HOST seq 5 permit ::/0 ge 128");
    line(text, "ipv6 prefix-list SUBNETS seq 5 permit ::/0 le 64");
    if (!topology.nodes(Role.CORE).isEmpty()) {
      /*
       * Hosts must also receive the core's routes to single hosts, which announce path bandwidth 0.
       */
      line(text, "ipv6 prefix-list SUBNETS seq 10 permit ::/0 ge 128");
    }
    return text.toString();
  }

  private void peer(StringBuilder text, String name) {
    line(text, " neighbor " + name + " interface remote-as external");
    line(text, " neighbor " + name + " timers connect 1");
  }

  private void addressFamily(StringBuilder text, Node leaf) {
    line(text, " address-family ipv6 unicast");
    line(text, "  maximum-paths " + Math.max(plan.planes(), 2));
    for (Link port : topology.portsOf(leaf)) {
      String name = port.leaf().interfaceName();
      if (port.plane() == 0) {
        for (int plane : topology.planesOf(port)) {
          line(text, "  network " + topology.prefix(port.far().node(), plane));
        }
      }
      line(text, "  neighbor " + name + " activate");
      line(text, "  neighbor " + name + " capability orf prefix-list receive");
      line(text, "  neighbor " + name + " prefix-list HOST in");
      line(text, "  neighbor " + name + " prefix-list SUBNETS out");
    }
    for (Link trunk : topology.trunksOf(leaf)) {
      String name = trunk.leaf().interfaceName();
      line(text, "  neighbor " + name + " activate");
      line(text, "  neighbor " + name + " prefix-list SUBNETS in");
      line(text, "  neighbor " + name + " route-map FROM-" + trunk.plane() + " in");
      line(text, "  neighbor " + name + " route-map TO-" + trunk.plane() + " out");
    }
    for (Node core : topology.nodes(Role.CORE)) {
      line(text, "  neighbor " + CORE_ADDRESS + " activate");
      line(text, "  neighbor " + CORE_ADDRESS + " prefix-list NOTHING-TO-" + core.name() + " out");
    }
    line(text, " exit-address-family");
    for (Node core : topology.nodes(Role.CORE)) {
      line(text, "ipv6 prefix-list NOTHING-TO-" + core.name() + " seq 5 deny any");
    }
  }

  private void maps(StringBuilder text, Node leaf, int plane) {
    for (Node host : topology.nodes(Role.HOST)) {
      String list = topology.leafOf(host).equals(leaf) ? "OWN-" : "REMOTE-";
      line(text, "ipv6 prefix-list " + list + plane + " permit " + topology.prefix(host, plane));
    }
    line(text, "route-map FROM-" + plane + " permit 10");
    line(text, " match ipv6 address prefix-list REMOTE-" + plane);
    line(text, " set local-preference 150");
    line(text, "route-map FROM-" + plane + " permit 20");
    line(text, "route-map TO-" + plane + " permit 10");
    line(text, " match ipv6 address prefix-list OWN-" + plane);
    line(text, "route-map TO-" + plane + " permit 20");
    line(text, " match ipv6 address prefix-list OWN");
    line(text, " set as-path prepend " + FabricTopology.leafAs(leaf));
    line(text, "ipv6 prefix-list OWN permit " + ownRange(leaf) + " le 64");
  }

  private static String ownRange(Node leaf) {
    return "fd00:" + Integer.toHexString(leaf.number()) + "::/32";
  }

  private static void line(StringBuilder text, String line) {
    text.append(line).append('\n');
  }
}
