package io.heddle.telemetry.report;

import java.util.List;

/**
 * Report of a gateway: one sample of its state.
 *
 * @param timestampNs time of the sample, in nanoseconds since the epoch
 */
public record GatewayReport(
    long timestampNs,
    List<ListReport> lists,
    List<ElephantReport> elephants,
    List<RuleReport> rules,
    List<InterfaceReport> interfaces) {
  public GatewayReport {
    lists = List.copyOf(lists);
    elephants = List.copyOf(elephants);
    rules = List.copyOf(rules);
    interfaces = List.copyOf(interfaces);
  }
}
