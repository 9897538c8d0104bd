package io.heddle.tools.lab;

import io.heddle.tools.switching.LabSwitch;
import io.heddle.tools.switching.SwitchGroup;
import io.heddle.tools.switching.SwitchMember;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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

  private final NamespaceSet namespaces = new NamespaceSet();
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
      lab.setUp();
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

  private void setUp() {
    List<String> nodes = new ArrayList<>(List.of("a", "leaf"));
    nodes.addAll(spines());
    nodes.addAll(cores());
    nodes.addAll(List.of("exit", "b"));
    Map<String, List<String>> lines = new LinkedHashMap<>();
    for (String node : nodes) {
      namespaces.add(node);
      lines.put(node, new ArrayList<>(List.of("link set lo up")));
      List<String> settings =
          new ArrayList<>(List.of("sysctl", "-qw", "net.ipv6.icmp.ratelimit=" + ANSWER_EVERY_MS));
      if (node.length() > 1) {
        settings.add("net.ipv6.conf.all.forwarding=1");
      }
      namespaces.run(node, settings, "");
      if (node.length() > 1) {
        at(lines, node).add("addr add " + address(node) + "/128 dev lo");
        namespaces.run(node, List.of("nft", "-f", "-"), COUNT_RULES);
      }
    }
    join(lines, "a", "leaf");
    for (String spine : spines()) {
      join(lines, "leaf", spine);
      for (String core : cores()) {
        join(lines, spine, core);
      }
    }
    for (String core : cores()) {
      join(lines, core, "exit");
    }
    join(lines, "exit", "b");
    routes(lines);
    lines.forEach((node, batch) -> namespaces.batch(node, batch));
  }

  private static List<String> at(Map<String, List<String>> lines, String node) {
    return lines.computeIfAbsent(node, unknown -> new ArrayList<>());
  }

  /*
   * Creates a veth pair. Each end is named after the node at the other end. The upper node's end
   * has the address fe80::1, the lower node's end fe80::2.
   */
  private void join(Map<String, List<String>> lines, String upper, String lower) {
    namespaces.batch(
        upper,
        List.of(
            "link add name "
                + lower
                + " type veth peer name "
                + upper
                + " netns "
                + namespaces.name(lower)));
    up(at(lines, upper), lower, 1);
    up(at(lines, lower), upper, 2);
  }

  private static void up(List<String> lines, String link, int end) {
    lines.add("link set dev " + link + " addrgenmode none");
    lines.add("link set dev " + link + " up");
    lines.add("addr add fe80::" + end + "/64 dev " + link + " nodad");
  }

  private void routes(Map<String, List<String>> lines) {
    at(lines, "a").add("addr add " + HOST + "/64 dev leaf nodad");
    at(lines, "a").add("route add default via fe80::2 dev leaf");
    at(lines, "b").add("addr add " + PEER + "/64 dev exit nodad");
    at(lines, "b").add("route add default via fe80::1 dev exit");
    at(lines, "leaf").add("route add fd00:a::/64 dev a");
    forward(at(lines, "leaf"), spines());
    for (String spine : spines()) {
      at(lines, spine).add("route add fd00:a::/64 via fe80::1 dev leaf");
      forward(at(lines, spine), cores());
    }
    for (String core : cores()) {
      at(lines, core).add("route add fd00:a::/64 via fe80::1 dev spine1");
      forward(at(lines, core), List.of("exit"));
    }
    at(lines, "exit").add("route add fd00:a::/64 via fe80::1 dev core1");
    at(lines, "exit").add("route add fd00:b::/64 dev b");
  }

  /*
   * Adds a route with equal next hops, and a routing table for each next hop. A packet with a mark
   * uses the table whose number is the mark.
   */
  private static void forward(List<String> lines, List<String> links) {
    StringBuilder equal = new StringBuilder("route add fd00:b::/64");
    for (int i = 0; i < links.size(); i++) {
      String hop = " via fe80::2 dev " + links.get(i);
      equal.append(" nexthop").append(hop);
      int table = FIRST_TABLE + i + 1;
      lines.add("route add fd00:b::/64" + hop + " table " + table);
      lines.add("rule add fwmark " + (i + 1) + " lookup " + table);
    }
    lines.add(equal.toString());
  }

  /**
   * Sets the method by which a router selects links.
   *
   * @throws io.heddle.platform.HeddleException if the kernel doesn't support a setting or a rule
   */
  public void configure(String router, Switching switching) {
    if (!switching.settings().isEmpty()) {
      List<String> command = new ArrayList<>(List.of("sysctl", "-qw"));
      command.addAll(switching.settings());
      namespaces.run(router, command, "");
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
    namespaces.run(router, List.of("nft", "-f", "-"), rules);
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
    namespaces.batch(router, lines);
  }

  /** Returns the command line that runs a command on a host or a router. */
  public List<String> command(String node, List<String> command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", namespaces.name(node)));
    whole.addAll(command);
    return whole;
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
    String text =
        namespaces.run(router, List.of("nft", "list", "set", "inet", "heddle-count", set), "");
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
    for (String node : namespaces.nodes()) {
      if (node.length() > 1) {
        namespaces.run(node, List.of("nft", "flush", "set", "inet", "heddle-count", "seen"), "");
        namespaces.run(node, List.of("nft", "flush", "set", "inet", "heddle-count", "marked"), "");
      }
    }
  }

  @Override
  public void close() {
    namespaces.close();
  }
}
