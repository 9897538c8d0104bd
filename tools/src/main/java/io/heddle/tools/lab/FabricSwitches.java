package io.heddle.tools.lab;

import io.heddle.platform.Shell;
import io.heddle.tools.lab.FabricTopology.End;
import io.heddle.tools.lab.FabricTopology.Link;
import io.heddle.tools.lab.FabricTopology.Node;
import io.heddle.tools.lab.FabricTopology.Role;
import io.heddle.tools.switching.LabSwitch;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchGroup;
import io.heddle.tools.switching.SwitchMember;
import java.util.ArrayList;
import java.util.List;

/**
 * Switches of a fabric that balance load. A leaf balances over its links to spines, and a spine
 * over its links to a leaf if there are several. A link is used while its plane's own route exists.
 */
final class FabricSwitches {
  /** Offset that makes the spines' hash seeds differ from the leaves' seeds. */
  private static final int SPINE_SEEDS = 1_000;

  private final FabricTopology topology;
  private final FabricLinks links;

  FabricSwitches(FabricTopology topology, FabricLinks links) {
    this.topology = topology;
    this.links = links;
  }

  /** Returns the routers that have more than one link to choose from, as switches. */
  List<LabSwitch> of(boolean polarised) {
    List<LabSwitch> switches = new ArrayList<>();
    for (Node router : topology.routers()) {
      List<SwitchGroup> groups = groups(router);
      if (!groups.isEmpty()) {
        int own = router.number() + (router.role() == Role.SPINE ? SPINE_SEEDS : 0);
        switches.add(
            new LabSwitch(
                router.name(),
                links.namespace(router),
                polarised ? 1 : own,
                ports(router),
                groups));
      }
    }
    return switches;
  }

  private static End own(Link link, Node router) {
    return link.leaf().node().equals(router) ? link.leaf() : link.far();
  }

  private List<String> ports(Node router) {
    return topology.links().stream()
        .filter(link -> link.leaf().node().equals(router) || link.far().node().equals(router))
        .map(link -> own(link, router).interfaceName())
        .toList();
  }

  private List<SwitchGroup> groups(Node router) {
    List<SwitchGroup> groups = new ArrayList<>();
    for (Node leaf : topology.nodes(Role.LEAF)) {
      List<Node> hosts = topology.portsOf(leaf).stream().map(port -> port.far().node()).toList();
      if (leaf.equals(router) || hosts.isEmpty()) {
        continue;
      }
      List<SwitchMember> members = new ArrayList<>();
      for (Link trunk : topology.trunksOf(router)) {
        boolean up = router.role() == Role.LEAF;
        if (up || trunk.leaf().node().equals(leaf)) {
          members.add(
              new SwitchMember(
                  own(trunk, router).interfaceName(),
                  up ? "fe80::2" : "fe80::1",
                  trunk.plane(),
                  topology.plan().rate(trunk.plane()),
                  hosts.stream().map(host -> topology.prefix(host, trunk.plane())).toList()));
        }
      }
      if (members.size() > 1) {
        groups.add(new SwitchGroup(FabricTopology.aggregate(leaf.number()), members));
      }
    }
    return groups;
  }

  /**
   * Verifies that the ports of a scope exist.
   *
   * @throws LabException if a port belongs to no load-balancing switch; the message lists the valid
   *     ports
   */
  void check(SprayScope scope) {
    List<String> all =
        of(false).stream()
            .flatMap(each -> each.ports().stream().map(port -> each.name() + ":" + port))
            .toList();
    for (String port : scope.ports()) {
      if (!all.contains(port)) {
        throw new LabException(
            "no load-balancing switch has the port "
                + port
                + "; there are "
                + String.join(", ", all));
      }
    }
  }

  /** Makes hosts send single packets, so that the switches handle no segment trains. */
  void disableTrains() {
    for (Node host : topology.nodes(Role.HOST)) {
      for (Link port : topology.ports()) {
        if (port.far().node().equals(host)) {
          Shell.run(
              List.of(
                  "ip",
                  "-n",
                  links.namespace(host),
                  "link",
                  "set",
                  port.far().interfaceName(),
                  "gso_max_segs",
                  "1"));
        }
      }
    }
  }
}
