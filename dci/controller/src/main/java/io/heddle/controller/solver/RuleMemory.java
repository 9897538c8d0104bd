package io.heddle.controller.solver;

import io.heddle.controller.model.FlowId;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Rules in force, and flows that have to stay where they are for a while. One thread. */
final class RuleMemory {
  /** A rule in force. */
  static final class Rule {
    final FlowId flow;
    final String policy;
    final int list;

    /** Whether the load is as good without it, as last seen. */
    boolean needless;

    /** Since when; means nothing where it isn't. */
    long needlessSinceNs;

    Rule(FlowId flow, String policy, int list) {
      this.flow = flow;
      this.policy = policy;
      this.list = list;
    }
  }

  private final TreeMap<FlowId, Rule> rules = new TreeMap<>();
  private final TreeMap<FlowId, Long> heldUntilNs = new TreeMap<>();

  void put(Rule rule) {
    rules.put(rule.flow, rule);
  }

  void remove(FlowId flow) {
    rules.remove(flow);
  }

  @Nullable Rule rule(FlowId flow) {
    return rules.get(flow);
  }

  /** Whether another gateway has the same rule: both would be one route. */
  boolean isTaken(FlowId flow) {
    return rules.keySet().stream()
        .anyMatch(each ->
            !each.gateway().equals(flow.gateway())
                && each.queuePair() == flow.queuePair()
                && each.destination().equals(flow.destination())
                && each.source().equals(flow.source()));
  }

  List<Rule> rules(String policy) {
    return rules.values().stream().filter(each -> each.policy.equals(policy)).toList();
  }

  List<Rule> rules() {
    return List.copyOf(rules.values());
  }

  void hold(FlowId flow, long untilNs) {
    heldUntilNs.put(flow, untilNs);
  }

  boolean isHeld(FlowId flow, long nowNs) {
    Long until = heldUntilNs.get(flow);
    return until != null && nowNs - until < 0;
  }

  void forgetHeld(long nowNs) {
    heldUntilNs.values().removeIf(until -> nowNs - until >= 0);
  }
}
