package io.heddle.cli.lab;

import io.heddle.platform.FileFailure;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One network namespace per host, one interface per plane. Two hosts are joined by a veth pair per
 * plane; more by a bridge per plane, all in one further namespace, so that planes never meet.
 *
 * <p>Names carry this process's number: several labs live side by side, and what a killed process
 * left behind can be told and is removed by the next lab.
 */
final class NamespaceLab implements Lab {
  private static final Path NAMES = Path.of("/run/netns");
  private static final Pattern NAME =
      Pattern.compile(
          "heddle-([0-9]+)-[0-9]+-(?:r[0-9]+|switch|a|b|leaf|exit|spine[0-9]+|core[0-9]+)");
  private static final Pattern SENT = Pattern.compile("TX:[^\\n]*\\n\\s*([0-9]+)");
  private static int created;

  private final Kind kind;
  private final LabPlan plan;
  private final String prefix;
  private final List<String> namespaces = new ArrayList<>();
  private final Thread hook = new Thread(this::removeNamespaces, "lab cleanup");
  private boolean closed;

  private NamespaceLab(Kind kind, LabPlan plan) {
    this.kind = kind;
    this.plan = plan;
    this.prefix = newPrefix();
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** What the names of a lab's namespaces begin with. */
  static synchronized String newPrefix() {
    return "heddle-" + ProcessHandle.current().pid() + "-" + ++created + "-";
  }

  /**
   * @throws LabException when the system refuses; nothing stays behind then
   */
  static NamespaceLab create(Kind kind, LabPlan plan) {
    removeLeftovers();
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
      addNamespace(hostNamespace(rank));
    }
    if (plan.ranks() > 2) {
      addNamespace(switchNamespace());
      batch(switchNamespace(), bridges());
    }
    for (int rank = 0; rank < plan.ranks(); rank++) {
      batch(hostNamespace(rank), links(rank));
    }
    for (int rank = 0; rank < plan.ranks(); rank++) {
      batch(hostNamespace(rank), addresses(rank));
    }
  }

  private String hostNamespace(int rank) {
    return prefix + "r" + rank;
  }

  private String switchNamespace() {
    return prefix + "switch";
  }

  /* Synchronized with close, which an interrupt may call in the middle of the set-up. */
  private synchronized void addNamespace(String name) {
    if (closed) {
      throw new LabException("the lab was closed while it was set up");
    }
    Shell.run(List.of("ip", "netns", "add", name));
    namespaces.add(name);
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

  /* The first of two hosts makes both ends; a bridge's ports are made by their hosts. */
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

  /* nodad: duplicate detection would keep each address tentative for a second or more. */
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
    try {
      removeNamespaces();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException shuttingDown) {
        /* Then the hook finds nothing left to do. */
      }
    }
  }

  private synchronized void removeNamespaces() {
    closed = true;
    LabException failure = null;
    for (String name : namespaces.reversed()) {
      try {
        Shell.run(List.of("ip", "netns", "del", name));
      } catch (LabException failed) {
        failure = failed;
      }
    }
    namespaces.clear();
    if (failure != null) {
      throw failure;
    }
  }

  /** Removes namespaces of labs whose process is no more: it was killed before it could. */
  static void removeLeftovers() {
    if (!Files.isDirectory(NAMES)) {
      return;
    }
    try (DirectoryStream<Path> names = Files.newDirectoryStream(NAMES, "heddle-*")) {
      for (Path path : names) {
        Matcher matcher = NAME.matcher(path.getFileName().toString());
        if (matcher.matches() && !Shell.isAlive(Long.parseLong(matcher.group(1)))) {
          Shell.run(List.of("ip", "netns", "del", path.getFileName().toString()));
        }
      }
    } catch (java.io.IOException unreadable) {
      throw new LabException(
          "can't list " + NAMES + ": " + FileFailure.reason(unreadable), unreadable);
    }
  }
}
