package io.heddle.tools.lab;

import io.heddle.cli.kit.Shell;
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
  private final NamespaceSet namespaces = new NamespaceSet();

  private NamespaceLab(Kind kind, LabPlan plan) {
    this.kind = kind;
    this.plan = plan;
  }

  /**
   * Creates a lab.
   *
   * @throws io.heddle.platform.HeddleException if the system refuses; nothing is left behind then
   */
  static NamespaceLab create(Kind kind, LabPlan plan) {
    NamespaceLab lab = new NamespaceLab(kind, plan);
    try {
      lab.setUp();
      return lab;
    } catch (RuntimeException failed) {
      lab.close();
      throw failed;
    }
  }

  private void setUp() {
    for (int rank = 0; rank < plan.ranks(); rank++) {
      namespaces.add(host(rank));
    }
    if (plan.ranks() > 2) {
      namespaces.add(SWITCH);
      batch(switchNamespace(), bridges());
    }
    for (int rank = 0; rank < plan.ranks(); rank++) {
      batch(hostNamespace(rank), links(rank));
    }
    for (int rank = 0; rank < plan.ranks(); rank++) {
      batch(hostNamespace(rank), addresses(rank));
    }
  }

  private static String host(int rank) {
    return "r" + rank;
  }

  private String hostNamespace(int rank) {
    return namespaces.name(host(rank));
  }

  private String switchNamespace() {
    return namespaces.name(SWITCH);
  }

  private static void batch(String namespace, List<String> lines) {
    Shell.run(List.of("ip", "-n", namespace, "-batch", "-"), String.join("\n", lines) + "\n");
  }

  private List<String> bridges() {
    List<String> lines = new ArrayList<>();
    for (int plane = 0; plane < plan.planes(); plane++) {
      lines.add("link add b" + plane + " mtu " + plan.mtuBytes() + " type bridge mcast_snooping 0");
      lines.add("link set b" + plane + " up");
    }
    return lines;
  }

  /*
   * Returns the commands that create a host's links. With two hosts, the first host creates both
   * ends. With more, each host creates its interfaces and the bridge ports at their other ends.
   */
  private List<String> links(int rank) {
    List<String> lines = new ArrayList<>();
    for (int plane = 0; plane < plan.planes(); plane++) {
      String name = LabPlan.interfaceName(plane);
      String own =
          "link add "
              + name
              + " mtu "
              + plan.mtuBytes()
              + " address "
              + LabPlan.macAddress(rank, plane);
      if (plan.ranks() > 2) {
        String port = "p" + plane + "r" + rank;
        lines.add(
            own
                + " type veth peer name "
                + port
                + " mtu "
                + plan.mtuBytes()
                + " netns "
                + switchNamespace());
      } else if (rank == 0 && plan.ranks() == 2) {
        lines.add(
            own
                + " type veth peer name "
                + name
                + " mtu "
                + plan.mtuBytes()
                + " address "
                + LabPlan.macAddress(1, plane)
                + " netns "
                + hostNamespace(1));
      } else if (plan.ranks() == 1) {
        lines.add(own + " type veth peer name p" + plane);
        lines.add("link set p" + plane + " up");
      }
    }
    return lines;
  }

  /*
   * Returns the commands that add a host's addresses. They use nodad: duplicate address detection
   * would keep each address tentative for a second or more.
   */
  private List<String> addresses(int rank) {
    List<String> lines = new ArrayList<>(List.of("link set lo up"));
    List<String> ports = new ArrayList<>();
    for (int plane = 0; plane < plan.planes(); plane++) {
      String name = LabPlan.interfaceName(plane);
      lines.add("link set " + name + " up");
      lines.add("addr add " + LabPlan.address(rank, plane) + "/64 dev " + name + " nodad");
      ports.add("link set p" + plane + "r" + rank + " master b" + plane + " up");
    }
    if (plan.ranks() > 2) {
      batch(switchNamespace(), ports);
    }
    if (plan.ranks() * (plan.ranks() - 1) * plan.planes() > MOST_LEARNT) {
      lines.addAll(neighbours(rank));
    }
    return lines;
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
    List<String> inNamespace = new ArrayList<>(List.of("ip", "netns", "exec", hostNamespace(rank)));
    inNamespace.addAll(command);
    return inNamespace;
  }

  @Override
  public String namespace(int rank) {
    return hostNamespace(rank);
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
                    hostNamespace(rank),
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
