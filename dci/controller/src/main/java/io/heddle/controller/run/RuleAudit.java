package io.heddle.controller.run;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.run.ControllerStatus.AuditRow;
import io.heddle.controller.run.ControllerStatus.Fit;
import io.heddle.telemetry.report.RuleReport;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Comparison of the rules that gateways report with the rule book. Thread-safe. */
final class RuleAudit {
  private final NetworkConfig network;
  private final TelemetryStore store;
  private final RuleBook book;
  private final long toleranceNs;

  /**
   * @param toleranceNs time for which a change may be in transit; a mismatch after that is a fault
   */
  RuleAudit(NetworkConfig network, TelemetryStore store, RuleBook book, long toleranceNs) {
    this.network = network;
    this.store = store;
    this.book = book;
    this.toleranceNs = toleranceNs;
  }

  /** Returns the {@code set-by} text that marks this controller's rules in a gateway's reports. */
  static String setBy(NetworkConfig network) {
    return RuleReport.BY_CONTROLLER + ExtendedCommunity.dotted(network.routerId());
  }

  List<AuditRow> rows() {
    List<AuditRow> rows = new ArrayList<>();
    Set<FlowId> found = new HashSet<>();
    for (NetworkConfig.Target gateway : network.gateways()) {
      for (RuleReport rule : store.reported(gateway.name()).rules()) {
        rows.add(row(gateway.name(), rule, found));
      }
    }
    for (RuleBook.Reason each : book.all()) {
      if (!found.contains(each.flow())) {
        rows.add(missing(each));
      }
    }
    return rows;
  }

  private boolean isSilent(String gateway) {
    TelemetryStore.Reported reported = store.reported(gateway);
    return reported.rulesNs() < 0 || System.nanoTime() - reported.rulesNs() > toleranceNs;
  }

  private AuditRow row(String gateway, RuleReport rule, Set<FlowId> found) {
    String source = rule.source();
    FlowId flow =
        RuleBook.flow(
            gateway, source == null ? "any" : source, rule.destination(), rule.queuePair());
    RuleBook.Reason reason = book.reason(flow);
    if (!rule.setBy().equals(setBy(network))) {
      return row(gateway, rule, Fit.FOREIGN, "set by: " + rule.setBy());
    }
    found.add(flow);
    if (isSilent(gateway)) {
      return row(
          gateway, rule, Fit.UNKNOWN, "the gateway doesn't report whether it still has the rule");
    }
    if (reason == null) {
      return book.hasJustEnded(flow, toleranceNs)
          ? row(gateway, rule, Fit.PENDING, "withdrawn just now")
          : row(gateway, rule, Fit.ORPHAN, "no reason for it is known here");
    }
    if (rule.active() && rule.list() == reason.list()) {
      return row(gateway, rule, Fit.IN_FORCE, reason.sentence());
    }
    return isYoung(reason)
        ? row(gateway, rule, Fit.PENDING, reason.sentence())
        : row(
            gateway,
            rule,
            Fit.NOT_IN_FORCE,
            rule.active()
                ? "it should lead to list " + reason.list()
                : "the gateway reports: " + rule.reason());
  }

  private boolean isYoung(RuleBook.Reason reason) {
    return System.nanoTime() - reason.sinceNs() < toleranceNs;
  }

  private AuditRow missing(RuleBook.Reason reason) {
    Fit fit =
        isSilent(reason.flow().gateway())
            ? Fit.UNKNOWN
            : isYoung(reason) ? Fit.PENDING : Fit.NOT_IN_FORCE;
    FlowId flow = reason.flow();
    return new AuditRow(
        flow.gateway(),
        flow.destination(),
        flow.queuePair(),
        flow.source(),
        reason.list(),
        fit,
        fit == Fit.NOT_IN_FORCE
            ? "the gateway doesn't have it: " + reason.sentence()
            : reason.sentence());
  }

  private static AuditRow row(String gateway, RuleReport rule, Fit fit, String sentence) {
    return new AuditRow(
        gateway, rule.destination(), rule.queuePair(), rule.source(), rule.list(), fit, sentence);
  }
}
