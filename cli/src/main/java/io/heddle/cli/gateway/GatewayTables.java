package io.heddle.cli.gateway;

import io.heddle.cli.kit.Units;
import io.heddle.gateway.GatewayStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formatter of the gateway's answers as text tables. */
final class GatewayTables {
  private static final String FLOW = "%-2s %-26s %8s  %-26s %9s %9s  %-10s %-10s %-16s %s";
  private static final String LIST = "%3s  %-12s %-12s %-6s %6s %7s %9s %9s %6s %9s %6s  %s";
  private static final String RULE = "%-26s %8s  %-26s %-12s %-9s %-6s %-18s %s";
  private static final int BAR = 30;

  private GatewayTables() {}

  private static String line(String format, Object... words) {
    return String.format(Locale.ROOT, format, words).stripTrailing();
  }

  static String rate(long bitsPerSecond) {
    return Units.count(bitsPerSecond) + "b/s";
  }

  static List<String> flows(GatewayStatus.Flows answer) {
    List<String> lines = new ArrayList<>();
    lines.add(
        line(
            FLOW,
            "",
            "destination",
            "QP",
            "source",
            "rate",
            "bytes",
            "list",
            "by hash",
            "steered by",
            "label"));
    for (GatewayStatus.Flow each : answer.flows()) {
      lines.add(flow(each));
    }
    lines.add(answer.flows().size() + " flows, " + answer.elephants() + " elephants (*)");
    return lines;
  }

  static String flow(GatewayStatus.Flow each) {
    String steeredBy = each.steeredBy();
    return line(
        FLOW,
        each.elephant() ? "*" : "",
        each.destination(),
        each.queuePair(),
        each.source(),
        rate(each.bitsPerSecond()),
        Units.bytes(each.bytes()),
        each.list(),
        each.listByHash(),
        steeredBy == null ? "-" : steeredBy,
        String.format(Locale.ROOT, "0x%05x", each.flowLabel()));
  }

  static List<String> lists(GatewayStatus.Lists answer) {
    List<String> lines = new ArrayList<>();
    lines.add(
        line(
            LIST,
            "id",
            "list",
            "policy",
            "alive",
            "weight",
            "buckets",
            "rate",
            "packets",
            "MTU",
            "trip",
            "loss",
            "segments"));
    for (GatewayStatus.SegmentList each : answer.lists()) {
      lines.add(
          line(
              LIST,
              each.id(),
              each.name(),
              each.policy(),
              each.alive() ? "yes" : "no",
              each.weight(),
              each.buckets(),
              rate(each.bitsPerSecond()),
              Units.count(each.packets()),
              each.mtuBytes(),
              trip(each),
              loss(each),
              String.join(" ", each.segments())));
      String reason = each.reason();
      if (reason != null) {
        lines.add("     " + reason);
      }
    }
    lines.add(traffic(answer.traffic()));
    return lines;
  }

  private static String trip(GatewayStatus.SegmentList list) {
    Double roundTripUs = list.roundTripUs();
    return roundTripUs == null ? "-" : Units.time((long) (1_000 * roundTripUs));
  }

  private static String loss(GatewayStatus.SegmentList list) {
    Double lossShare = list.lossShare();
    return lossShare == null ? "-" : Units.percent(lossShare);
  }

  static String traffic(GatewayStatus.Traffic traffic) {
    return "%s packets to queue pairs, %s steered, %s waiting to move; %s others; %s without policy"
        .formatted(
            Units.count(traffic.rocePackets()),
            Units.count(traffic.steeredPackets()),
            Units.count(traffic.heldPackets()),
            Units.count(traffic.otherPackets()),
            Units.count(traffic.noPolicyPackets()));
  }

  /**
   * Returns the line of a list, with its rate as a bar.
   *
   * @param most rate that a full bar stands for, in bit/s: that of the busiest list
   */
  static String bar(GatewayStatus.SegmentList list, long most) {
    String reason = list.reason();
    if (reason != null) {
      return line("%-12s %-12s DEAD: %s", list.policy(), list.name(), reason);
    }
    int filled = most == 0 ? 0 : (int) Math.round((double) BAR * list.bitsPerSecond() / most);
    return line(
        "%-12s %-12s %-" + BAR + "s %9s  %3d buckets  %2d elephants  trip %s  loss %s",
        list.policy(),
        list.name(),
        "█".repeat(filled) + "·".repeat(BAR - filled),
        rate(list.bitsPerSecond()),
        list.buckets(),
        list.elephants(),
        trip(list),
        loss(list));
  }

  static List<String> rules(GatewayStatus.Rules answer) {
    List<String> lines = new ArrayList<>();
    lines.add(
        line(RULE, "destination", "QP", "source", "list", "active", "used", "set by", "reason"));
    for (GatewayStatus.Rule each : answer.rules()) {
      String source = each.source();
      String reason = each.reason();
      lines.add(
          line(
              RULE,
              each.destination(),
              each.queuePair(),
              source == null ? "any" : source,
              each.list(),
              each.active() ? "yes" : "no",
              each.used() ? "yes" : "no",
              each.setBy(),
              reason == null ? "" : reason));
    }
    lines.add(answer.rules().size() + " rules");
    return lines;
  }

  static List<String> peers(GatewayStatus.Peers answer) {
    List<String> lines = new ArrayList<>();
    for (GatewayStatus.Peer each : answer.peers()) {
      lines.add(
          "%s at %s: %s, %s rules, %s announcements taken, %s delayed"
              .formatted(
                  each.name(),
                  each.address(),
                  each.state(),
                  each.rules(),
                  each.accepted(),
                  each.delayed()));
      each.refused().forEach((why, count) -> lines.add("  %s refused: %s".formatted(count, why)));
    }
    lines.add(answer.peers().size() + " peers");
    return lines;
  }
}
