package io.heddle.cli.bridge;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.RedundancyStatus;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Table of a bridge's status, with a line for each group and direction. */
public final class BridgeTable {
  private BridgeTable() {}

  public static String of(BridgeStatus status) {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "bridge %s, process %d, %s, up %.0f s%s%n",
            status.name(),
            status.process(),
            status.running() ? "running" : "NOT RUNNING: these are its last counts",
            status.upSeconds(),
            configuration(status)));
    if (!status.lastError().isEmpty()) {
      text.append("last error: ").append(status.lastError()).append('\n');
    }
    text.append(faults(status));
    for (BridgeStatus.Fabric each : status.fabrics()) {
      text.append(
          String.format(
              Locale.ROOT,
              "fabric %s: %s; received %d, unknown group %d, unicast %d, empty %d, kernel queue"
                  + " full %d%s%n",
              each.name(),
              each.description(),
              each.receivedPackets(),
              each.unknownGroup(),
              each.unicast(),
              each.empty(),
              each.kernelQueueFull(),
              ofDevice(each)));
    }
    RedundancyStatus redundancy = status.redundancy();
    if (redundancy != null) {
      text.append(RedundancyTable.of(redundancy));
    }
    text.append(
        String.format(
            Locale.ROOT,
            "%n%-24s "
                + (redundancy == null ? "%s" : "%-8s ")
                + "%-7s %9s %9s %12s %9s %9s %9s  %s%n",
            "group",
            redundancy == null ? "" : "owner",
            "from>to",
            "packets/s",
            "Mbit/s",
            "forwarded",
            "median us",
            "99.9% us",
            "dropped",
            "why"));
    for (BridgeStatus.Group group : status.groups()) {
      boolean first = true;
      for (BridgeStatus.Direction each : group.directions()) {
        String name = first ? group.group() : "";
        String owner = RedundancyTable.owner(redundancy, group, first);
        text.append(line(name, owner, group.suspended(), each));
        first = false;
      }
    }
    BridgeStatus.Unicast unicast = status.unicast();
    if (unicast != null) {
      for (int side = 0; side < unicast.directions().size(); side++) {
        String name = side == 0 ? "unicast" : "";
        String nobody = redundancy == null ? "" : String.format(Locale.ROOT, "%-8s ", "");
        text.append(line(name, nobody, false, unicast.directions().get(side)));
      }
      for (int side = 0; side < unicast.clients().size(); side++) {
        String fabric = status.fabrics().get(side).name();
        text.append(clients(fabric, unicast.clients().get(side)));
      }
    }
    text.append(PgmTable.of(status));
    return text.toString();
  }

  private static String faults(BridgeStatus status) {
    String groups =
        status.groups().stream()
            .filter(each -> each.dropEvery() != 0)
            .map(each -> each.group() + " 1/" + each.dropEvery())
            .collect(Collectors.joining(", "));
    return groups.isEmpty()
        ? ""
        : "WARNING: packets are dropped on purpose: "
            + groups
            + "; heddle bridge set drop=off ends that\n";
  }

  /*
   * Returns the counts of a verbs device's failures and events; empty if there were none, or if the
   * fabric has no such device.
   */
  private static String ofDevice(BridgeStatus.Fabric fabric) {
    return fabric.queuePairFailures() + fabric.portEvents() == 0
        ? ""
        : ", queue pair failures "
            + fabric.queuePairFailures()
            + ", port events "
            + fabric.portEvents();
  }

  private static String clients(String fabric, BridgeStatus.Clients clients) {
    return String.format(
        Locale.ROOT,
        "clients of %s: requests %d, repeats %d, replies %d, waiting %d, timed out %d, evicted"
            + " %d; pairs %d, expired %d, evicted %d%n",
        fabric,
        clients.requests(),
        clients.repeats(),
        clients.replies(),
        clients.waiting(),
        clients.timedOut(),
        clients.requestsEvicted(),
        clients.pairs(),
        clients.pairsAged(),
        clients.pairsEvicted());
  }

  private static String configuration(BridgeStatus status) {
    if (status.config().isEmpty()) {
      return "";
    }
    long again = status.generation();
    return ", configuration "
        + status.config()
        + (again == 0 ? "" : ", reloaded " + again + (again == 1 ? " time" : " times"));
  }

  private static String line(
      String group, String owner, boolean suspended, BridgeStatus.Direction direction) {
    String why =
        direction.drops().entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .map(each -> each.getKey() + " " + each.getValue())
            .collect(Collectors.joining(", "));
    String line =
        String.format(
            Locale.ROOT,
            "%-24s %s%-7s %9d %9.2f %12d %9s %9s %9d  %s%s",
            group,
            owner,
            direction.from() + ">" + direction.to(),
            direction.packetsPerSecond(),
            direction.bytesPerSecond() * 8 / 1e6,
            direction.forwarded(),
            microseconds(direction.latenessMedianUs()),
            microseconds(direction.latenessP999Us()),
            direction.dropped(),
            suspended ? "SUSPENDED " : "",
            direction.pending() > 0
                ? "waiting " + direction.pending() + (why.isEmpty() ? "" : ", ") + why
                : why);
    return line.stripTrailing() + "\n";
  }

  private static String microseconds(@Nullable Double value) {
    return value == null ? "-" : String.format(Locale.ROOT, "%.1f", value);
  }
}
