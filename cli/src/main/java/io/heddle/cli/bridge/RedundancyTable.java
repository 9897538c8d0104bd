package io.heddle.cli.bridge;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.RedundancyStatus;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Table of several bridges for the same groups, with a line for each bridge; also formats the owner
 * column of the table of groups.
 */
final class RedundancyTable {
  private RedundancyTable() {}

  static String of(RedundancyStatus status) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "bridge %d (this one): %s%s, owns %d groups, links up %s, %s%s%n",
            status.bridgeId(),
            status.state(),
            reserveSuffix(status.reserve()),
            status.owned(),
            list(status.fabricsUp()),
            status.peers().isEmpty()
                ? "NO OTHER BRIDGE WAS HEARD"
                : status.settled() ? "all agree" : "NOT ALL AGREE YET",
            refused(status.refusedBeacons())));
    for (RedundancyStatus.PeerBridge each : status.peers()) {
      text.append(
          String.format(
              Locale.ROOT,
              "bridge %d %s: %s%s, heard on %s, links up %s, priority %d, weight %d, last beacon"
                  + " %.1f s ago%s%s%n",
              each.bridgeId(),
              each.address(),
              each.state(),
              reserveSuffix(each.reserve()),
              list(each.receivedOn()),
              list(each.fabricsUp()),
              each.priority(),
              each.weight(),
              each.lastBeaconSeconds(),
              each.agrees() ? "" : ", DOESN'T AGREE",
              each.sameConfiguration() ? "" : ", OTHER GROUPS CONFIGURED"));
    }
    return text.toString();
  }

  private static String reserveSuffix(boolean reserve) {
    return reserve ? ", held" : "";
  }

  private static String list(List<String> fabrics) {
    return fabrics.isEmpty() ? "none" : String.join(" and ", fabrics);
  }

  private static String refused(Map<String, Long> faults) {
    return faults.isEmpty()
        ? ""
        : faults.entrySet().stream()
            .map(each -> each.getKey() + " " + each.getValue())
            .collect(Collectors.joining(", ", "; beacons refused: ", ""));
  }

  /**
   * Returns the owner column of a group's line; empty for a bridge without redundancy.
   *
   * @param first whether this is the group's first line, which shows the owner
   */
  static String owner(
      @Nullable RedundancyStatus redundancy, BridgeStatus.Group group, boolean first) {
    Integer owner = group.owner();
    if (redundancy == null || owner == null) {
      return redundancy == null ? "" : column("");
    }
    if (!first) {
      return column("");
    }
    String name =
        owner == 0 ? "none" : owner == redundancy.bridgeId() ? owner + " this" : "" + owner;
    return column(group.role().equals("no-owner") && owner != 0 ? name + "?" : name);
  }

  private static String column(String text) {
    return String.format(Locale.ROOT, "%-8s ", text);
  }
}
