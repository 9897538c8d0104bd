package io.heddle.cli.controller;

import io.heddle.controller.run.ControllerStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formatter of the controller's answers as text tables. */
final class ControllerTables {
  private static final int BAR = 40;

  private ControllerTables() {}

  static List<String> overview(ControllerStatus.Overview now) {
    List<String> lines = new ArrayList<>();
    for (ControllerStatus.TargetRow each : now.targets()) {
      lines.add(
          "%-12s %s"
              .formatted(
                  each.name(),
                  each.reports()
                      ? "reports, with %s elephants".formatted(each.elephants())
                      : "doesn't report: " + each.reason()));
    }
    for (ControllerStatus.PeerRow each : now.peers()) {
      lines.add("%-12s BGP %s with %s".formatted(each.name(), each.state(), each.address()));
      if (each.unannouncedRules() > 0) {
        lines.add(
            "%-12s gets no %s rules: its session lacks Flowspec of their address family"
                .formatted("", each.unannouncedRules()));
      }
    }
    now.gaps().forEach(each -> lines.add("no decision about " + each));
    for (ControllerStatus.PolicyRow policy : now.policies()) {
      lines.add("");
      lines.add("policy %s: %s".formatted(policy.policy(), policy.sentence()));
      for (ControllerStatus.ListRow list : now.lists()) {
        if (list.policy().equals(policy.policy())) {
          int filled = (int) Math.min(BAR, Math.round(BAR * list.utilisation()));
          lines.add(
              String.format(
                  Locale.ROOT,
                  "  list %-5d %3.0f %% %s",
                  list.list(),
                  100 * list.utilisation(),
                  "#".repeat(filled) + ".".repeat(BAR - filled)));
        }
      }
    }
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "%s rounds, 99 of 100 within %.1f ms; %s elephants reported",
            now.work().rounds(),
            now.work().slowRoundMs(),
            now.work().records()));
    lines.add("%s rules wanted in force".formatted(now.rules().size()));
    for (ControllerStatus.RuleRow each : now.rules()) {
      lines.add(
          "  %s  %s: %s to list %s: %s"
              .formatted(
                  each.since(), each.gateway(), each.queuePair(), each.list(), each.sentence()));
    }
    for (ControllerStatus.DecisionRow each : now.decisions()) {
      lines.add("%s %-9s %s".formatted(each.time(), each.action(), each.sentence()));
    }
    return lines;
  }

  static List<String> audit(ControllerStatus.AuditReport report) {
    List<String> lines = new ArrayList<>();
    for (ControllerStatus.AuditRow each : report.rows()) {
      lines.add(
          "%-17s %s: queue pair %s of %s to list %s: %s"
              .formatted(
                  each.fit().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                  each.gateway(),
                  each.queuePair(),
                  each.destination(),
                  each.list(),
                  each.sentence()));
    }
    lines.add(
        "%s rules and reasons, %s mismatches".formatted(report.rows().size(), report.faults()));
    return lines;
  }
}
