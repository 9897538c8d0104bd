package io.heddle.cli.bridge;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.PgmStatus;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Exporter of a bridge's counters in Prometheus' text format (version 0.0.4), for a collector that
 * reads files. Each time series has one line, and the lines of one metric are adjacent.
 */
final class BridgeMetrics {
  private final Map<String, List<String>> lines = new LinkedHashMap<>();
  private final BridgeStatus status;

  private BridgeMetrics(BridgeStatus status) {
    this.status = status;
  }

  static String of(BridgeStatus status) {
    BridgeMetrics metrics = new BridgeMetrics(status);
    metrics.addBridge();
    status.fabrics().forEach(metrics::addFabric);
    for (BridgeStatus.Group each : status.groups()) {
      for (int side = 0; side < each.directions().size(); side++) {
        BridgeStatus.Direction direction = each.directions().get(side);
        metrics.addDirection(each.group(), direction);
        if (each.pgm() != null) {
          metrics.addPgm(each.group(), direction, each.pgm().directions().get(side));
        }
      }
    }
    BridgeStatus.Unicast unicast = status.unicast();
    if (unicast != null) {
      unicast.directions().forEach(each -> metrics.addDirection("unicast", each));
    }
    return metrics.lines.values().stream()
        .flatMap(List::stream)
        .map(each -> each + "\n")
        .collect(Collectors.joining());
  }

  private void add(
      String name, String kind, String help, Map<String, String> labels, double value) {
    String full = "heddle_bridge_" + name;
    List<String> block = lines.computeIfAbsent(full, key -> new ArrayList<>());
    if (block.isEmpty()) {
      block.add("# HELP " + full + " " + help);
      block.add("# TYPE " + full + " " + kind);
    }
    Map<String, String> all = new TreeMap<>(labels);
    all.put("bridge", status.name());
    String text =
        all.entrySet().stream()
            .map(each -> each.getKey() + "=\"" + escaped(each.getValue()) + "\"")
            .collect(Collectors.joining(","));
    boolean whole = value == Math.rint(value) && Math.abs(value) < 1L << 53;
    block.add(full + "{" + text + "} " + (whole ? Long.toString((long) value) : "" + value));
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  private void count(String name, String help, Map<String, String> labels, long value) {
    add(name + "_total", "counter", help, labels, value);
  }

  private void addBridge() {
    add("running", "gauge", "Whether the bridge is alive.", Map.of(), status.running() ? 1 : 0);
    add("up_seconds", "gauge", "Since the bridge started.", Map.of(), status.upSeconds());
  }

  private void addFabric(BridgeStatus.Fabric fabric) {
    Map<String, String> labels = Map.of("fabric", fabric.name());
    count("received_packets", "Received packets.", labels, fabric.receivedPackets());
    count("received_bytes", "Their bytes, from BTH to CRC.", labels, fabric.receivedBytes());
    count(
        "unknown_group_packets",
        "Dropped: their group isn't bridged.",
        labels,
        fabric.unknownGroup());
    count(
        "kernel_queue_full_packets",
        "Dropped by the system before the bridge received them.",
        labels,
        fabric.kernelQueueFull());
    count(
        "queue_pair_failures",
        "Restarts of a failed queue pair of libibverbs.",
        labels,
        fabric.queuePairFailures());
    count(
        "port_events", "Asynchronous events of a libibverbs device.", labels, fabric.portEvents());
  }

  private void addDirection(String group, BridgeStatus.Direction direction) {
    Map<String, String> labels =
        Map.of("group", group, "from", direction.from(), "to", direction.to());
    count("arrived_packets", "Packets received for the group.", labels, direction.arrived());
    count("forwarded_packets", "Packets that left.", labels, direction.forwarded());
    count("forwarded_bytes", "Their bytes, from BTH to CRC.", labels, direction.forwardedBytes());
    direction
        .drops()
        .forEach((reason, packets) -> {
          Map<String, String> why = new TreeMap<>(labels);
          why.put("reason", reason);
          count("dropped_packets", "Packets that weren't forwarded.", why, packets);
        });
    add("pending_packets", "gauge", "Packets queued in the limiter.", labels, direction.pending());
    count("delayed_packets", "Packets that were queued there.", labels, direction.delayed());
    addLateness(labels, "0.5", direction.latenessMedianUs());
    addLateness(labels, "0.999", direction.latenessP999Us());
  }

  private void addLateness(Map<String, String> labels, String part, @Nullable Double microseconds) {
    if (microseconds != null) {
      Map<String, String> quantile = new TreeMap<>(labels);
      quantile.put("part", part);
      add(
          "lateness_seconds",
          "gauge",
          "From the system's receive to the send, of this part of all packets.",
          quantile,
          microseconds / 1e6);
    }
  }

  private void addPgm(String group, BridgeStatus.Direction direction, PgmStatus.Direction pgm) {
    Map<String, String> labels =
        Map.of("group", group, "from", direction.from(), "to", direction.to());
    count("pgm_packets", "PGM packets.", labels, pgm.packets());
    count("pgm_malformed_packets", "Packets that aren't PGM.", labels, pgm.malformed());
    count("pgm_data_packets", "Original data packets.", labels, pgm.data());
    count("pgm_repeats", "Repair packets.", labels, pgm.repeats());
    count("pgm_skipped_numbers", "Missing numbers.", labels, pgm.skipped());
    count("pgm_late_numbers", "Of them, those that arrived late.", labels, pgm.late());
    count("pgm_repaired_numbers", "Of them, those in a repair packet.", labels, pgm.repaired());
    count("pgm_duplicates", "Original packets received again.", labels, pgm.duplicates());
    count("pgm_strays", "Packets far from their session's numbers.", labels, pgm.strays());
    count("pgm_restarts", "Restarts of sources.", labels, pgm.restarts());
    count("pgm_requests", "Repair requests.", labels, pgm.requests());
    add("pgm_sessions", "gauge", "Current sessions.", labels, pgm.sessions());
    count("pgm_evicted_sessions", "Sessions evicted from the full table.", labels, pgm.evicted());
    count("pgm_aged_sessions", "Sessions idle for 5 minutes.", labels, pgm.aged());
  }
}
