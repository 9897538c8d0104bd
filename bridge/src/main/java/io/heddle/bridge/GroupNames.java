package io.heddle.bridge;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NearestName;
import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.List;

/** Lookup of groups by the names that operators use. */
final class GroupNames {
  private GroupNames() {}

  /**
   * Returns the address of a group.
   *
   * @param name the group's address, with or without the port, such as {@code 239.1.1.1:4711}
   * @throws HeddleException if no group has this name; the message suggests the most similar one
   */
  static Gid find(Collection<BridgedGroup> groups, String name) {
    for (BridgedGroup each : groups) {
      String address = each.settings().address().toString();
      if (name.equals(each.settings().name()) || name.equals(address)) {
        return each.settings().address();
      }
    }
    List<String> names = groups.stream().map(each -> each.settings().name()).toList();
    throw new HeddleException(
        "no group is named "
            + name
            + NearestName.suggestion(name, names)
            + "; heddle bridge show"
            + " lists them");
  }
}
