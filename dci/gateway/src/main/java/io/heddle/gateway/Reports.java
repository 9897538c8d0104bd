package io.heddle.gateway;

import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.peer.ControllerSessions;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Converter of a view to a telemetry report, which refers to lists by id, and contains only those
 * flows that are elephants.
 */
final class Reports {
  private final GatewayConfig config;

  private Reports(GatewayConfig config) {
    this.config = config;
  }

  /**
   * Returns the report of the gateway's state in a view.
   *
   * @param sent bytes that each interface had sent at the view's time
   */
  static GatewayReport of(GatewayView view, GatewayConfig config, List<InterfaceReport> sent) {
    Reports reports = new Reports(config);
    return new GatewayReport(
        view.timestampNs(),
        view.lists().lists().stream().map(Reports::list).toList(),
        view.elephants().stream().map(reports::elephant).toList(),
        view.rules().rules().stream().map(reports::rule).toList(),
        sent);
  }

  private static ListReport list(GatewayStatus.SegmentList list) {
    return new ListReport(
        list.id(),
        list.name(),
        list.policy(),
        list.alive(),
        list.reason(),
        list.weight(),
        list.segments(),
        list.device(),
        list.bytes(),
        list.packets(),
        list.bitsPerSecond(),
        rounded(list.lossShare(), 1e4),
        rounded(list.roundTripUs(), 1e3));
  }

  /* Rounds to the number of decimals in the YANG model. */
  private static @Nullable Double rounded(@Nullable Double figure, double parts) {
    return figure == null ? null : Math.rint(figure * parts) / parts;
  }

  private ElephantReport elephant(GatewayStatus.Flow flow) {
    return new ElephantReport(
        flow.destination(),
        flow.queuePair(),
        flow.source(),
        flow.sourcePort(),
        flow.policy(),
        flow.colour(),
        flow.endpoint(),
        flow.bytes(),
        flow.packets(),
        flow.bitsPerSecond(),
        id(flow.list()),
        id(flow.listByHash()),
        flow.steeredBy(),
        flow.flowLabel(),
        flow.outerDestination(),
        flow.firstSeen(),
        flow.lastSeen());
  }

  private RuleReport rule(GatewayStatus.Rule rule) {
    return new RuleReport(
        rule.destination(),
        rule.queuePair(),
        rule.source(),
        id(rule.list()),
        rule.active(),
        rule.reason(),
        rule.setBy(),
        rule.used());
  }

  private int id(String name) {
    return config.list(name).map(ListConfig::id).orElse(0);
  }

  /** Returns the sessions with controllers, for the control socket. */
  static GatewayStatus.Peers peers(List<ControllerSessions.Peer> sessions) {
    return new GatewayStatus.Peers(
        sessions.stream()
            .map(each ->
                new GatewayStatus.Peer(
                    each.name(),
                    each.address(),
                    each.state(),
                    each.rules(),
                    each.accepted(),
                    each.delayed(),
                    each.refused()))
            .toList());
  }
}
