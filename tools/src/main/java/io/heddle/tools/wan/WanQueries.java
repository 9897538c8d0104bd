package io.heddle.tools.wan;

import io.heddle.cli.controller.ControllerCommand;
import io.heddle.cli.gateway.GatewayCommand;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.gateway.GatewayStatus;
import io.heddle.tools.wan.host.JsonOutput;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Queries to the near gateway and to the controller. A query throws if there is no answer. */
final class WanQueries {
  private final WanConfigs configs;

  WanQueries(WanConfigs configs) {
    this.configs = configs;
  }

  /** Returns the flows to {@link WanNodes#DESTINATION}, by queue pair. */
  Map<Integer, GatewayStatus.Flow> flows() {
    return flows(WanNodes.DESTINATION);
  }

  Map<Integer, GatewayStatus.Flow> flows(String destination) {
    Map<Integer, GatewayStatus.Flow> flows = new TreeMap<>();
    gateway("flows", GatewayStatus.Flows.class).flows().stream()
        .filter(each -> each.destination().equals(destination))
        .forEach(each -> flows.put(each.queuePair(), each));
    return flows;
  }

  List<GatewayStatus.Rule> rules() {
    return gateway("rules", GatewayStatus.Rules.class).rules();
  }

  /** Returns the number of bytes that each segment list has carried, by the list's name. */
  Map<String, Long> bytes() {
    Map<String, Long> bytes = new TreeMap<>();
    gateway("lists", GatewayStatus.Lists.class)
        .lists()
        .forEach(each -> bytes.put(each.name(), each.bytes()));
    return bytes;
  }

  private <T> T gateway(String what, Class<T> document) {
    return JsonOutput.of(
        new GatewayCommand(),
        document,
        "show",
        what,
        "--json",
        "--control=" + configs.socket(WanNodes.gateway(1)));
  }

  ControllerStatus.Overview overview() {
    return JsonOutput.of(
        new ControllerCommand(), ControllerStatus.Overview.class, "show", "--json", control());
  }

  ControllerStatus.AuditReport audit() {
    return JsonOutput.of(
        new ControllerCommand(), ControllerStatus.AuditReport.class, "audit", "--json", control());
  }

  private String control() {
    return "--control=" + configs.socket(WanNodes.CONTROLLER);
  }
}
