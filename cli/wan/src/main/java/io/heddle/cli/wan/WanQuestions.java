package io.heddle.cli.wan;

import io.heddle.cli.controller.ControllerCommand;
import io.heddle.cli.wan.host.Answers;
import io.heddle.controller.run.ControllerStatus;
import io.heddle.gateway.GatewayStatus;
import io.heddle.gateway.command.GatewayCommand;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Questions to the near gateway and to the controller. Each throws while nobody answers. */
final class WanQuestions {
  private final WanConfigs configs;

  WanQuestions(WanConfigs configs) {
    this.configs = configs;
  }

  /** By queue pair, of those to {@link WanNodes#DESTINATION}. */
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

  /** What lists have carried, by name. */
  Map<String, Long> bytes() {
    Map<String, Long> bytes = new TreeMap<>();
    gateway("lists", GatewayStatus.Lists.class)
        .lists()
        .forEach(each -> bytes.put(each.name(), each.bytes()));
    return bytes;
  }

  private <T> T gateway(String what, Class<T> document) {
    return Answers.of(
        new GatewayCommand(),
        document,
        "show",
        what,
        "--json",
        "--control=" + configs.socket(WanNodes.gateway(1)));
  }

  ControllerStatus.Overview overview() {
    return Answers.of(
        new ControllerCommand(), ControllerStatus.Overview.class, "show", "--json", control());
  }

  ControllerStatus.AuditReport audit() {
    return Answers.of(
        new ControllerCommand(), ControllerStatus.AuditReport.class, "audit", "--json", control());
  }

  private String control() {
    return "--control=" + configs.socket(WanNodes.CONTROLLER);
  }
}
