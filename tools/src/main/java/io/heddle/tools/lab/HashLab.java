package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.tools.switching.LabSwitch;
import io.heddle.tools.switching.SwitchGroup;
import io.heddle.tools.switching.SwitchMember;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lab of two hosts with two tiers of equal links between them, in separate network namespaces:
 * {@code a — leaf = spines = cores — exit — b}. The leaf chooses a spine and the spine a core, each
 * by its configured hash. Every router answers from its own address, and counts the packets to UDP
 * port 4791 by link and source port.
 *
 * <p>Namespace names contain the process ID. Creating a lab removes the labs of killed processes.
 */
public final class HashLab implements AutoCloseable {
  /** Address of host b, the peer. */
  public static final String PEER = "fd00:b::1";

  /** Address of host a. */
  public static final String HOST = "fd00:a::1";

  private static final Pattern COUNTED =
      Pattern.compile("\"(\\w+)\" \\. ([0-9]+) counter packets ([0-9]+)");
  private static final String PREFIX = "fd00:b::/64";
  private static final int FIRST_TABLE = 100;

  /* Rate of the links in bit/s. All links are equal and unshaped, so any value works. */
  private static final long UNSHAPED = 10_000_000_000L;

  /*
   * Shortest time in ms between two ICMPv6 errors to a host; 0 for no limit. Linux's default is one
   * error per second; data centre switches send hundreds.
   */
  private static final int ANSWER_EVERY_MS = 0;

  private static final String COUNT_RULES =
      """
      table inet heddle-count {
        set seen { typeof meta oifname . udp sport; size 65535; flags dynamic; counter; }
        set marked { typeof meta oifname . udp sport; size 65535; flags dynamic; counter; }
        chain out {
          type filter hook postrouting priority 0;
          udp dport 4791 update @seen { meta oifname . udp sport }
          udp dport 4791 @th,98,6 != 0 update @marked { meta oifname . udp sport }
        }
      }
      """;

  private final NetworkNamespaces namespaces;
  private final int spines;
  private final int cores;

  /**
   * Method by which a switch selects links.
   *
   * @param settings sysctl settings, {@code name=value}
   * @param rules nft statements that set a packet's mark: 1 for the first link, 2 for the second
   *     and so on; if empty, the kernel's hash selects
   */
  public record Switching(List<String> settings, String rules) {}

  private HashLab(int spines, int cores) {
    this.spines = spines;
    this.cores = cores;
    namespaces = declared().create();
  }

  /** Returns the reason why this machine can't run the lab, as a sentence; empty if it can. */
  public static Optional<String> refusal() {
    return Program.missing(List.of(Program.IP, Program.NFT))
        .or(() -> Labs.refusal(Lab.Kind.NAMESPACES));
  }

  /**
   * Creates a lab.
   *
   * @param spines number of equal links of the leaf, 1 to 64
   * @param cores number of equal links of each spine, 1 to 64
   * @throws io.heddle.platform.HeddleException if the system refuses; nothing is left behind then
   */
  public static HashLab create(int spines, int cores) {
    HashLab lab = new HashLab(spines, cores);
    try {
      lab.prepareRouters();
      return lab;
    } catch (RuntimeException failed) {
      lab.close();
      throw failed;
    }
  }

  /** Returns the names of the spines, in the order of the leaf's links to them. */
  public List<String> spines() {
    return numbered("spine", spines);
  }

  /** Returns the names of the cores, in the order of each spine's links to them. */
  public List<String> cores() {
    return numbered("core", cores);
  }

  private static List<String> numbered(String name, int count) {
    List<String> names = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      names.add(name + i);
    }
    return names;
  }

  /** Returns the address from which a router answers. */
  public static String address(String router) {
    Matcher number = Pattern.compile("([a-z]+)([0-9]*)").matcher(router);
    if (!number.matches()) {
      throw new IllegalArgumentException(router + " is not the name of a router");
    }
    int tier = List.of("leaf", "spine", "core", "exit").indexOf(number.group(1));
    int which = number.group(2).isEmpty() ? 1 : Integer.parseInt(number.group(2));
    return "fd00:f:%x::%x".formatted(tier + 1, which);
  }

  private List<String> routers() {
    List<String> routers = new ArrayList<>(List.of("leaf"));
    routers.addAll(spines());
    routers.addAll(cores());
    routers.add("exit");
    return routers;
  }

  private NetworkTopology declared() {
    String errors = "net.ipv6.icmp.ratelimit=" + ANSWER_EVERY_MS;
    String noLinkLocal = "net.ipv6.conf.default.addr_gen_mode=1";
    NetworkTopology net =
        new NetworkTopology().node("a", errors, noLinkLocal).node("b", errors, noLinkLocal);
    for (String router : routers()) {
      net.node(router, errors, noLinkLocal, "net.ipv6.conf.all.forwarding=1")
          .address(router, "lo", address(router) + "/128");
    }
    join(net, "a", "leaf");
    for (String spine : spines()) {
      join(net, "leaf", spine);
      for (String core : cores()) {
        join(net, spine, core);
      }
    }
    for (String core : cores()) {
      join(net, core, "exit");
    }
    join(net, "exit", "b");
    declareRoutes(net);
    return net;
  }

  /*
   * Declares a veth pair. Each end is named after the node at the other end. The upper node's end
   * has the address fe80::1, the lower node's end fe80::2.
   */
  private static void join(NetworkTopology net, String upper, String lower) {
    net.link(upper + " " + lower, lower + " " + upper)
        .address(upper, lower, "fe80::1/64")
        .address(lower, upper, "fe80::2/64");
  }

  private void declareRoutes(NetworkTopology net) {
    net.address("a", "leaf", HOST + "/64").ip("a", "route add default via fe80::2 dev leaf");
    net.address("b", "exit", PEER + "/64").ip("b", "route add default via fe80::1 dev exit");
    net.ip("leaf", "route add fd00:a::/64 dev a").ip("leaf", forward(spines()));
    for (String spine : spines()) {
      net.ip(spine, "route add fd00:a::/64 via fe80::1 dev leaf").ip(spine, forward(cores()));
    }
    for (String core : cores()) {
      net.ip(core, "route add fd00:a::/64 via fe80::1 dev spine1")
          .ip(core, forward(List.of("exit")));
    }
    net.ip("exit", "route add fd00:a::/64 via fe80::1 dev core1", "route add fd00:b::/64 dev b");
  }

  /*
   * Returns commands that add a route with equal next hops, and a routing table for each next hop.
   * A packet with a mark uses the table whose number is the mark.
   */
  private static List<String> forward(List<String> links) {
    StringBuilder equal = new StringBuilder("route add fd00:b::/64");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < links.size(); i++) {
      String hop = " via fe80::2 dev " + links.get(i);
      equal.append(" nexthop").append(hop);
      lines.add("route add fd00:b::/64" + hop + " table " + (FIRST_TABLE + i + 1));
    }
    lines.add(equal.toString());
    return lines;
  }

  /* Counts packets at each router, and adds the rules by which marks select routing tables. */
  private void prepareRouters() {
    for (String router : routers()) {
      NetworkNamespace node = namespaces.node(router);
      node.run(List.of("nft", "-f", "-"), COUNT_RULES);
      int links = router.startsWith("spine") ? cores : router.equals("leaf") ? spines : 1;
      StringBuilder rules = new StringBuilder();
      for (int i = 1; i <= links; i++) {
        rules.append("rule add fwmark %s lookup %s%n".formatted(i, FIRST_TABLE + i));
      }
      node.run(List.of("ip", "-6", "-batch", "-"), rules.toString());
    }
  }

  /**
   * Sets the method by which a router selects links.
   *
   * @throws io.heddle.platform.HeddleException if the kernel doesn't support a setting or a rule
   */
  public void configure(String router, Switching switching) {
    if (!switching.settings().isEmpty()) {
      namespaces.node(router).set(switching.settings());
    }
    String rules = "add table inet heddle-hash\ndelete table inet heddle-hash\n";
    if (!switching.rules().isEmpty()) {
      rules +=
          """
          table inet heddle-hash {
            chain in {
              type filter hook prerouting priority -150;
              ip6 daddr fd00:b::/64 udp dport 4791 %s
            }
          }
          """
              .formatted(switching.rules());
    }
    namespaces.node(router).run(List.of("nft", "-f", "-"), rules);
  }

  /**
   * Returns the leaf and the spines as switches that hash or spray. Their routes must exist.
   *
   * @param polarised whether all switches have the same hash seed
   */
  List<LabSwitch> switches(boolean polarised) {
    List<LabSwitch> switches = new ArrayList<>();
    switches.add(balancingSwitch("leaf", 1, "a", spines()));
    for (int i = 1; i <= spines; i++) {
      switches.add(balancingSwitch("spine" + i, polarised ? 1 : i + 1, "leaf", cores()));
    }
    return switches;
  }

  private LabSwitch balancingSwitch(String node, int seed, String up, List<String> links) {
    List<SwitchMember> members = new ArrayList<>();
    for (int i = 0; i < links.size(); i++) {
      members.add(new SwitchMember(links.get(i), "fe80::2", i + 1, UNSHAPED, List.of()));
    }
    List<String> ports = new ArrayList<>(List.of(up));
    ports.addAll(links);
    return new LabSwitch(
        node, namespaces.name(node), seed, ports, List.of(new SwitchGroup(PREFIX, members)));
  }

  /** Returns the ip-netns(8) name of a node's network namespace. */
  String namespace(String node) {
    return namespaces.name(node);
  }

  /** Sets a router's link down or up. */
  void setUp(String router, String link, boolean up) {
    List<String> lines = new ArrayList<>(List.of("link set dev " + link + (up ? " up" : " down")));
    if (up) {
      lines.add("addr replace fe80::1/64 dev " + link + " nodad");
    }
    namespaces.node(router).ip(lines);
  }

  /** Returns the command line that runs a command on a host or a router. */
  public List<String> command(String node, List<String> command) {
    return namespaces.node(node).command(command);
  }

  /**
   * Returns the number of packets to UDP port 4791 that left a router since the last {@link
   * #resetCounters}, by source port and link.
   */
  public Map<Integer, Map<String, Long>> counted(String router) {
    return counted(router, "seen");
  }

  /**
   * Returns the same counts as {@link #counted}, of packets whose BTH has a mark in its reserved
   * bits. The mark identifies data packets.
   */
  Map<Integer, Map<String, Long>> countedMarked(String router) {
    return counted(router, "marked");
  }

  private Map<Integer, Map<String, Long>> counted(String router, String set) {
    String text = namespaces.node(router).run("nft", "list", "set", "inet", "heddle-count", set);
    Map<Integer, Map<String, Long>> counted = new TreeMap<>();
    Matcher each = COUNTED.matcher(text);
    while (each.find()) {
      counted
          .computeIfAbsent(Integer.parseInt(each.group(2)), port -> new TreeMap<>())
          .put(each.group(1), Long.parseLong(each.group(3)));
    }
    return counted;
  }

  /** Resets the counters of every router. */
  public void resetCounters() {
    for (String router : routers()) {
      for (String set : List.of("seen", "marked")) {
        namespaces.node(router).run("nft", "flush", "set", "inet", "heddle-count", set);
      }
    }
  }

  @Override
  public void close() {
    namespaces.close();
  }
}
