package io.heddle.tools.switching;

import java.util.ArrayList;
import java.util.List;

/**
 * Network namespace that acts as a switch.
 *
 * @param name name of the switch in its lab
 * @param namespace ip-netns(8) name of its namespace
 * @param seed seed of its hash
 * @param ports interfaces whose incoming packets it switches
 * @param groups groups of equal links, at most {@link #MOST_GROUPS}
 */
public record LabSwitch(
    String name, String namespace, int seed, List<String> ports, List<SwitchGroup> groups) {
  public static final int MOST_GROUPS = 64;

  public LabSwitch {
    ports = List.copyOf(ports);
    groups = List.copyOf(groups);
    if (groups.size() > MOST_GROUPS) {
      throw new IllegalArgumentException(
          groups.size()
              + " groups of links at "
              + name
              + "; at most "
              + MOST_GROUPS
              + " are supported");
    }
  }

  /**
   * Returns the lines for {@code ip -6 -batch} that add a routing table for each link, and a rule
   * by which packets with a link's mark use the link's table.
   */
  public List<String> routes() {
    List<String> lines = new ArrayList<>();
    List<Integer> marks = new ArrayList<>();
    for (SwitchGroup group : groups) {
      for (SwitchMember member : group.members()) {
        lines.add(route(group, member));
        if (!marks.contains(member.mark())) {
          marks.add(member.mark());
          lines.add("rule add fwmark " + member.mark() + " lookup " + member.table());
        }
      }
    }
    return lines;
  }

  /**
   * Returns the line that adds a link's route to the link's table. The route must be added again
   * after the link was down.
   */
  static String route(SwitchGroup group, SwitchMember member) {
    return "route replace "
        + group.prefix()
        + " via "
        + member.gateway()
        + " dev "
        + member.link()
        + " table "
        + member.table();
  }
}
