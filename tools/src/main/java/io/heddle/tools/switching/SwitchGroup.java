package io.heddle.tools.switching;

import java.util.List;

/**
 * Group of a switch's equal links towards some destinations.
 *
 * @param prefix IPv6 prefix of the destinations
 * @param members links of the group, 1 to {@link #MOST_MEMBERS}
 */
public record SwitchGroup(String prefix, List<SwitchMember> members) {
  public static final int MOST_MEMBERS = 32;

  public SwitchGroup {
    members = List.copyOf(members);
    if (members.isEmpty() || members.size() > MOST_MEMBERS) {
      throw new IllegalArgumentException(
          members.size()
              + " links towards "
              + prefix
              + "; 1 to "
              + MOST_MEMBERS
              + " are supported");
    }
  }
}
