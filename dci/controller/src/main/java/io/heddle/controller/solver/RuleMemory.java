package io.heddle.controller.solver;

import io.heddle.controller.model.FlowId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Rules in force, flows that have to stay where they are for a while, and flows whose rule went and
 * was needed again: theirs stays longer each time. One thread.
 */
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

  /** A flow whose rule was withdrawn, as needless or with the flow's end. */
  private static final class Released {
    long atNs;

    /** How often one was needed again. */
    int returns;
  }

  /** At most 16 times as long as at first. */
  private static final int MOST_RETURNS = 4;

  /** A flow is calm again after so many times the time that its rule had to be needless. */
  private static final int CALM = 8;

  /** What a rule matches, whoever's it is. */
  private record Match(String source, String destination, int queuePair) {
    static Match of(FlowId flow) {
      return new Match(flow.source(), flow.destination(), flow.queuePair());
    }
  }

  private final Map<FlowId, Rule> rules = new HashMap<>();
  /* By policy, and in order, so that the same reports bring the same decisions. */
  private final Map<String, TreeMap<FlowId, Rule>> ofPolicies = new TreeMap<>();

  /* The gateways that have a rule that matches this. */
  private final Map<Match, Set<String>> gateways = new HashMap<>();
  private final Map<FlowId, Long> heldUntilNs = new HashMap<>();
  private final Map<FlowId, Released> released = new HashMap<>();

  void put(Rule rule) {
    remove(rule.flow);
    rules.put(rule.flow, rule);
    ofPolicies.computeIfAbsent(rule.policy, any -> new TreeMap<>()).put(rule.flow, rule);
    gateways.computeIfAbsent(Match.of(rule.flow), any -> new HashSet<>()).add(rule.flow.gateway());
  }

  /** Puts a rule in force for a flow that is moved; one whose rule had gone before is noticed. */
  void move(Rule rule) {
    Released before = released.get(rule.flow);
    if (before != null && !rules.containsKey(rule.flow)) {
      before.returns = Math.min(before.returns + 1, MOST_RETURNS);
    }
    put(rule);
  }

  /** A flow's rule was withdrawn since it isn't needed any more. */
  void release(FlowId flow, long nowNs) {
    released.computeIfAbsent(flow, any -> new Released()).atNs = nowNs;
  }

  /** A time that doubles whenever a flow needs a rule again. */
  long longer(FlowId flow, long firstNs) {
    Released before = released.get(flow);
    return before == null ? firstNs : firstNs << before.returns;
  }

  void remove(FlowId flow) {
    Rule was = rules.remove(flow);
    if (was == null) {
      return;
    }
    ofPolicies.computeIfPresent(
        was.policy,
        (policy, those) -> {
          those.remove(flow);
          return those.isEmpty() ? null : those;
        });
    gateways.computeIfPresent(
        Match.of(flow),
        (match, those) -> {
          those.remove(flow.gateway());
          return those.isEmpty() ? null : those;
        });
  }

  @Nullable Rule rule(FlowId flow) {
    return rules.get(flow);
  }

  /** Whether another gateway has the same rule: both would be one route. */
  boolean isTaken(FlowId flow) {
    Set<String> those = gateways.isEmpty() ? null : gateways.get(Match.of(flow));
    return those != null && (those.size() > 1 || !those.contains(flow.gateway()));
  }

  List<Rule> rules(String policy) {
    TreeMap<FlowId, Rule> those = ofPolicies.get(policy);
    return those == null ? List.of() : List.copyOf(those.values());
  }

  List<Rule> rules() {
    return ofPolicies.values().stream().flatMap(each -> each.values().stream()).toList();
  }

  void hold(FlowId flow, long untilNs) {
    heldUntilNs.put(flow, untilNs);
  }

  boolean isHeld(FlowId flow, long nowNs) {
    Long until = heldUntilNs.get(flow);
    return until != null && nowNs - until < 0;
  }

  /** Forgets what is over. */
  void age(long nowNs, long firstReleaseNs) {
    heldUntilNs.values().removeIf(until -> nowNs - until >= 0);
    released
        .entrySet()
        .removeIf(each ->
            !rules.containsKey(each.getKey())
                && nowNs - each.getValue().atNs >= CALM * longer(each.getKey(), firstReleaseNs));
  }
}
