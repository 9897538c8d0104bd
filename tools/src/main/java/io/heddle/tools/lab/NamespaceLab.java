package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.Shell;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lab with one network namespace per host and one interface per plane. Two hosts are connected by a
 * veth pair per plane. More hosts are connected by a bridge per plane; all bridges are in one
 * further namespace, and planes stay separate.
 */
final class NamespaceLab implements Lab {
  private static final String SWITCH = "switch";

  /*
   * Largest number of neighbour entries that the kernel may learn; a lab with more gets static
   * entries. All namespaces share the kernel's neighbour table, which holds 1024 learnt entries and
   * evicts some from 512 on.
   */
  private static final int MOST_LEARNT = 400;

  private static final Pattern SENT = Pattern.compile("TX:[^\\n]*\\n\\s*([0-9]+)");

  private final Kind kind;
  private final LabPlan plan;
  private final NetworkNamespaces namespaces;

  private NamespaceLab(Kind kind, LabPlan plan) {
    this.kind = kind;
    this.plan = plan;
    namespaces = declared().create();
  }

  /**
   * Creates a lab.
   *
   * @throws io.heddle.platform.HeddleException if the system refuses; nothing is left behind then
   */
  static NamespaceLab create(Kind kind, LabPlan plan) {
    return new NamespaceLab(kind, plan);
  }

  private NetworkTopology declared() {
    NetworkTopology topology = new NetworkTopology();
    for (int rank = 0; rank < plan.ranks(); rank++) {
      topology.node(host(rank));
    }
    if (plan.ranks() > 2) {
      topology.node(SWITCH);
    }
    for (int plane = 0; plane < plan.planes(); plane++) {
      connect(topology, plane);
    }
    if (plan.ranks() * (plan.ranks() - 1) * plan.planes() > MOST_LEARNT) {
      for (int rank = 0; rank < plan.ranks(); rank++) {
        topology.ip(host(rank), neighbours(rank));
      }
    }
    return topology;
  }

  /*
   * Declares a plane's links. One host's interface leads to an unused peer. Two hosts have one
   * link. More hosts have a link each to a port of the plane's bridge.
   */
  private void connect(NetworkTopology topology, int plane) {
    String bridge = "b" + plane;
    if (plan.ranks() == 1) {
      topology.link(end(0, plane), host(0) + " p" + plane);
    } else if (plan.ranks() == 2) {
      topology.link(end(0, plane), end(1, plane));
    } else {
      topology.ip(
          SWITCH,
          "link add " + bridge + mtu() + " type bridge mcast_snooping 0",
          "link set " + bridge + " up");
    }
    for (int rank = 0; rank < plan.ranks(); rank++) {
      if (plan.ranks() > 2) {
        String port = "p" + plane + "r" + rank;
        topology
            .link(end(rank, plane), SWITCH + " " + port + mtu())
            .ip(SWITCH, "link set " + port + " master " + bridge);
      }
      topology.address(
          host(rank), LabPlan.interfaceName(plane), LabPlan.address(rank, plane) + "/64");
    }
  }

  private String end(int rank, int plane) {
    return host(rank)
        + " "
        + LabPlan.interfaceName(plane)
        + mtu()
        + " address "
        + LabPlan.macAddress(rank, plane);
  }

  private String mtu() {
    return " mtu " + plan.mtuBytes();
  }

  private static String host(int rank) {
    return "r" + rank;
  }

  private NetworkNamespace node(int rank) {
    return namespaces.node(host(rank));
  }

  private List<String> neighbours(int rank) {
    List<String> lines = new ArrayList<>();
    for (int other = 0; other < plan.ranks(); other++) {
      for (int plane = 0; other != rank && plane < plan.planes(); plane++) {
        lines.add(
            "neigh replace "
                + LabPlan.address(other, plane)
                + " lladdr "
                + LabPlan.macAddress(other, plane)
                + " dev "
                + LabPlan.interfaceName(plane)
                + " nud permanent");
      }
    }
    return lines;
  }

  @Override
  public Kind kind() {
    return kind;
  }

  @Override
  public LabPlan plan() {
    return plan;
  }

  @Override
  public List<String> command(int rank, List<String> command) {
    return node(rank).command(command);
  }

  @Override
  public String namespace(int rank) {
    return node(rank).name();
  }

  @Override
  public Map<String, String> environment(int rank) {
    return Map.of();
  }

  @Override
  public List<Long> sentBytesByPlane() {
    long[] sent = new long[plan.planes()];
    for (int rank = 0; rank < plan.ranks(); rank++) {
      for (int plane = 0; plane < plan.planes(); plane++) {
        String link =
            Shell.run(
                List.of(
                    "ip",
                    "-n",
                    node(rank).name(),
                    "-s",
                    "link",
                    "show",
                    LabPlan.interfaceName(plane)));
        Matcher matcher = SENT.matcher(link);
        if (!matcher.find()) {
          throw new LabException(
              "ip -s link show " + LabPlan.interfaceName(plane) + " has no TX line: " + link);
        }
        sent[plane] += Long.parseLong(matcher.group(1));
      }
    }
    List<Long> byPlane = new ArrayList<>();
    for (long bytes : sent) {
      byPlane.add(bytes);
    }
    return byPlane;
  }

  @Override
  public void close() {
    namespaces.close();
  }
}
