package io.heddle.bridge.config;

import io.heddle.bridge.fabric.FabricSpec;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Difference between the running configuration and its replacement at a reload.
 *
 * @param removed groups that the new configuration no longer contains
 * @param added groups that only the new configuration contains
 * @param changed new settings of the groups that both configurations contain with different
 *     settings
 * @param untouched number of unchanged groups
 */
public record BridgeConfigChange(
    List<GroupSettings> removed,
    List<GroupSettings> added,
    List<GroupSettings> changed,
    int untouched) {

  /**
   * Compares two configurations.
   *
   * @throws HeddleException for a change that requires a restart; the message contains the old and
   *     the new value
   */
  public static BridgeConfigChange between(BridgeConfig now, BridgeConfig next) {
    refuse("the bridge's name", now.name(), next.name());
    refuse("status", now.status(), next.status());
    refuse("control", now.control(), next.control());
    refuse("core", core(now), core(next));
    refuse("unicast", unicast(now), unicast(next));
    refuse("redundancy", redundancy(now), redundancy(next));
    for (int side = 0; side < now.fabrics().size(); side++) {
      refuse(now.fabrics().get(side), next.fabrics().get(side));
    }
    Map<Gid, GroupSettings> before = new LinkedHashMap<>();
    now.groups().forEach(group -> before.put(group.address(), group));
    List<GroupSettings> added = new ArrayList<>();
    List<GroupSettings> changed = new ArrayList<>();
    int untouched = 0;
    for (GroupSettings group : next.groups()) {
      GroupSettings old = before.remove(group.address());
      if (old == null) {
        added.add(group);
      } else if (old.equals(group)) {
        untouched++;
      } else {
        changed.add(group);
      }
    }
    return new BridgeConfigChange(
        List.copyOf(before.values()), List.copyOf(added), List.copyOf(changed), untouched);
  }

  private static void refuse(FabricSpec now, FabricSpec next) {
    Map<String, Object> then = next.fixed();
    now.fixed()
        .forEach((key, value) ->
            refuse("fabric " + now.name() + "'s " + key, value, then.getOrDefault(key, "none")));
  }

  private static String core(BridgeConfig config) {
    return config.core() == BridgeConfig.NO_CORE ? "off" : Integer.toString(config.core());
  }

  private static String unicast(BridgeConfig config) {
    return config.unicast() == null ? "off" : config.unicast().fixed();
  }

  private static String redundancy(BridgeConfig config) {
    return config.redundancy() == null ? "off" : config.redundancy().identity();
  }

  private static void refuse(String what, Object now, Object next) {
    if (!now.equals(next)) {
      throw new HeddleException(
          what + " is " + now + " and can't become " + next + " while the bridge runs: restart it");
    }
  }

  /** Returns a description for the log. */
  public String describe() {
    return added.size()
        + " groups begin "
        + names(added)
        + ", "
        + removed.size()
        + " end "
        + names(removed)
        + ", "
        + changed.size()
        + " change "
        + names(changed)
        + ", "
        + untouched
        + " stay as they are";
  }

  private static List<String> names(List<GroupSettings> groups) {
    return groups.stream().map(GroupSettings::name).limit(20).toList();
  }
}
