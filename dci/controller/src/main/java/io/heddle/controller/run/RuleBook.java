package io.heddle.controller.run;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.wire.Prefix;
import io.heddle.controller.model.FlowId;
import java.net.InetAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Table of the rules that the controller wants in force, each with its reason. Thread-safe. */
final class RuleBook {
  /**
   * Reason for a rule.
   *
   * @param gatewayId router id of the flow's gateway
   * @param list id of the list that the rule sends the flow to
   * @param since time of the decision
   * @param sinceNs time of the decision, by System.nanoTime
   */
  record Reason(
      FlowId flow,
      FlowRule rule,
      int gatewayId,
      String policy,
      int list,
      Instant since,
      long sinceNs,
      String sentence) {}

  private final ComponentTypes types;
  private final Map<FlowId, Reason> reasons = new TreeMap<>();
  private final Map<FlowId, Long> withdrawnNs = new TreeMap<>();

  RuleBook(ComponentTypes types) {
    this.types = types;
  }

  /**
   * Returns whether a flow between these addresses can have a rule: both must be IPv4 or both IPv6.
   */
  static boolean hasRules(String source, String destination) {
    return hasRules(AddressTexts.parse(source), AddressTexts.parse(destination));
  }

  /** Returns whether a flow between these parsed addresses can have a rule. */
  static boolean hasRules(AddressTexts.Parsed source, AddressTexts.Parsed destination) {
    InetAddress from = source.address();
    InetAddress to = destination.address();
    return from != null && to != null && from.getClass().equals(to.getClass());
  }

  /**
   * Returns the flow's key with canonical address texts (RFC 5952); gateways may report other
   * forms.
   */
  static FlowId flow(String gateway, String source, String destination, int queuePair) {
    return new FlowId(
        gateway,
        AddressTexts.parse(source).canonical(),
        AddressTexts.parse(destination).canonical(),
        queuePair);
  }

  /**
   * Returns a flow of another gateway whose rule would be the same BGP route; null if there is
   * none.
   */
  synchronized @Nullable FlowId ruleWithSameKey(FlowId flow) {
    return reasons.keySet().stream()
        .filter(each -> !each.equals(flow))
        .filter(each ->
            each.source().equals(flow.source())
                && each.destination().equals(flow.destination())
                && each.queuePair() == flow.queuePair())
        .findFirst()
        .orElse(null);
  }

  synchronized Reason addRule(
      FlowId flow, int gatewayId, String policy, int list, String sentence) {
    FlowRule rule =
        FlowRule.queuePair(
            types, Prefix.of(flow.source()), Prefix.of(flow.destination()), flow.queuePair());
    Reason reason =
        new Reason(flow, rule, gatewayId, policy, list, Instant.now(), System.nanoTime(), sentence);
    reasons.put(flow, reason);
    withdrawnNs.remove(flow);
    return reason;
  }

  /** Removes a rule. Returns its reason; null if there was no rule. */
  synchronized @Nullable Reason removeRule(FlowId flow) {
    Reason was = reasons.remove(flow);
    if (was != null) {
      withdrawnNs.put(flow, System.nanoTime());
    }
    return was;
  }

  /** Returns whether the flow's rule was withdrawn so recently that a gateway may still have it. */
  synchronized boolean hasJustEnded(FlowId flow, long withinNs) {
    withdrawnNs.values().removeIf(each -> System.nanoTime() - each > withinNs);
    return withdrawnNs.containsKey(flow);
  }

  synchronized @Nullable Reason reason(FlowId flow) {
    return reasons.get(flow);
  }

  synchronized List<Reason> all() {
    return new ArrayList<>(reasons.values());
  }
}
