package io.heddle.switching;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Forwarding by nftables rules, which need no BPF. They use the same hash as the BPF program, or
 * select at random for data packets. They can't implement SprayLink, since they don't see loads.
 */
final class NftForwarding implements SwitchForwarding {
  private static final String TABLE = "heddle-switching";
  private static final Pattern COUNTED =
      Pattern.compile("\"([^\"]+)\" counter packets ([0-9]+) bytes ([0-9]+)");

  /*
   * Match of data packets: the low six bits of BTH byte 4 aren't zero. The BTH is behind UDP's
   * header of 8 bytes.
   */
  private static final String MARKED = "@th,98,6 != 0";

  private final LabSwitch own;
  private final CommandRunner runner;
  private final List<boolean[]> alive;
  private final List<String> ports;
  private SwitchingMode mode = SwitchingMode.HASH;
  private SprayScope scope = SprayScope.GLOBAL;

  NftForwarding(LabSwitch own, CommandRunner runner) {
    this.own = own;
    this.runner = runner;
    ports = new ArrayList<>(own.ports());
    alive = new ArrayList<>();
    for (SwitchGroup group : own.groups()) {
      boolean[] all = new boolean[group.members().size()];
      java.util.Arrays.fill(all, true);
      alive.add(all);
    }
  }

  private String nft(List<String> arguments, String input) {
    List<String> command = new ArrayList<>(List.of("ip", "netns", "exec", own.namespace(), "nft"));
    command.addAll(arguments);
    return runner.run(command, input);
  }

  /**
   * Installs the table that counts packets, with zero counts, and the rules. Later changes of the
   * rules keep the counts.
   */
  void install() {
    nft(
        List.of("-f", "-"),
        """
        table inet heddle-switched {
          set marked { typeof meta oifname; size 256; flags dynamic; counter; }
          set other { typeof meta oifname; size 256; flags dynamic; counter; }
          chain out {
            type filter hook postrouting priority 0;
            meta l4proto udp udp dport 4791 %1$s update @marked { meta oifname }
            meta l4proto udp udp dport 4791 @th,98,6 == 0 update @other { meta oifname }
          }
        }
        """
            .formatted(MARKED));
    apply();
  }

  /*
   * Replaces the rules in one transaction, so that each packet meets either the old rules or the
   * new ones.
   */
  private void apply() {
    nft(
        List.of("-f", "-"),
        "add table inet " + TABLE + "\ndelete table inet " + TABLE + "\n" + rules());
  }

  /** Returns the script of the table with the rules. */
  String rules() {
    StringBuilder text = new StringBuilder();
    text.append("table inet ").append(TABLE).append(" {\n  chain in {\n");
    text.append("    type filter hook prerouting priority -150;\n");
    for (int group = 0; group < own.groups().size(); group++) {
      List<Integer> marks = marks(group);
      if (marks.isEmpty()) {
        continue;
      }
      String from = "    iifname " + names(ports);
      String to = " ip6 daddr " + own.groups().get(group).prefix() + " udp dport 4791";
      text.append(from).append(to);
      text.append(" meta mark set jhash ip6 saddr . ip6 daddr . udp sport mod ");
      text.append(marks.size()).append(" seed 0x").append(Integer.toHexString(own.seed()));
      text.append(map(marks)).append('\n');
      List<String> sprayed = scope.ports().isEmpty() ? ports : scope.portsOf(own);
      if (mode == SwitchingMode.HASH || sprayed.isEmpty()) {
        continue;
      }
      text.append("    iifname ").append(names(sprayed)).append(to);
      if (!scope.prefixes().isEmpty()) {
        text.append(" ip6 daddr { ").append(String.join(", ", scope.prefixes())).append(" }");
      }
      text.append(' ').append(MARKED).append(" meta mark set numgen random mod ");
      text.append(marks.size()).append(map(marks)).append('\n');
    }
    return text.append("  }\n}\n").toString();
  }

  private List<Integer> marks(int group) {
    List<SwitchMember> members = own.groups().get(group).members();
    return IntStream.range(0, members.size())
        .filter(i -> alive.get(group)[i])
        .mapToObj(i -> members.get(i).mark())
        .toList();
  }

  private static String names(List<String> interfaces) {
    return interfaces.stream()
        .map(name -> '"' + name + '"')
        .collect(Collectors.joining(", ", "{ ", " }"));
  }

  private static String map(List<Integer> marks) {
    return IntStream.range(0, marks.size())
        .mapToObj(i -> i + " : " + marks.get(i))
        .collect(Collectors.joining(", ", " map { ", " }"));
  }

  @Override
  public void addPort(String port) {
    ports.add(port);
    apply();
  }

  @Override
  public void configure(SwitchingMode changed, SprayScope where) {
    mode = changed;
    scope = where;
    apply();
  }

  @Override
  public void setAlive(int group, boolean[] flags) {
    alive.set(group, flags.clone());
    apply();
  }

  private Map<String, long[]> set(String name) {
    Map<String, long[]> found = new HashMap<>();
    Matcher each =
        COUNTED.matcher(nft(List.of("list", "set", "inet", "heddle-switched", name), ""));
    while (each.find()) {
      found.put(
          each.group(1), new long[] {Long.parseLong(each.group(2)), Long.parseLong(each.group(3))});
    }
    return found;
  }

  /** Returns the counts by link. If several groups share a link, each shows the link's total. */
  @Override
  public List<LinkCount> counts() {
    Map<String, long[]> marked = set("marked");
    Map<String, long[]> other = set("other");
    List<LinkCount> counts = new ArrayList<>();
    String rules = nft(List.of("list", "table", "inet", TABLE), "");
    for (SwitchGroup group : own.groups()) {
      for (SwitchMember member : group.members()) {
        long[] data = marked.getOrDefault(member.link(), new long[2]);
        long[] rest = other.getOrDefault(member.link(), new long[2]);
        boolean living =
            rules
                .lines()
                .anyMatch(line ->
                    line.contains(group.prefix())
                        && line.matches(
                            ".* : 0x0*" + Integer.toHexString(member.mark()) + "[ ,].*"));
        counts.add(
            new LinkCount(
                own.name(),
                group.prefix(),
                member.link(),
                living,
                data[0],
                data[1],
                rest[0],
                rest[1],
                0));
      }
    }
    return counts;
  }

  @Override
  public void remove() {
    String delete = "";
    for (String table : List.of(TABLE, "heddle-switched")) {
      delete += "add table inet " + table + "\ndelete table inet " + table + "\n";
    }
    nft(List.of("-f", "-"), delete);
  }

  @Override
  public void close() {
    /* Nothing to release: the rules belong to the kernel. */
  }
}
