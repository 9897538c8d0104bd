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
 * Memory of rules in force, of flows that must stay on their list, and of flows whose rule was
 * withdrawn. Each time that a flow of the last kind needs a rule again, the new rule stays for
 * longer. Used by one thread.
 */
final class RuleMemory {
  /** Rule in force. */
  static final class Rule {
    final FlowId flow;
    final String policy;
    final int list;

    /**
     * Whether the load would have been balanced well enough without this rule at the last check.
     */
    boolean needless;

    /** Time since which the rule has been needless; undefined if it is needed. */
    long needlessSinceNs;

    Rule(FlowId flow, String policy, int list) {
      this.flow = flow;
      this.policy = policy;
      this.list = list;
    }
  }

  /** Flow whose rule was withdrawn because it was needless or the flow had ended. */
  private static final class Released {
    long atNs;

    /** Number of times that the flow needed a rule again. */
    int returns;
  }

  /**
   * Maximum number of doublings of a release time. So a release time is at most 16 times the first
   * one.
   */
  private static final int MOST_RETURNS = 4;

  /** Time after which the withdrawal of a rule is forgotten, as a multiple of the release time. */
  private static final int CALM = 8;

  /** Match fields of a rule, without its gateway. */
  private record Match(String source, String destination, int queuePair) {
    static Match of(FlowId flow) {
      return new Match(flow.source(), flow.destination(), flow.queuePair());
    }
  }

  private final Map<FlowId, Rule> rules = new HashMap<>();
  /* Rules by policy. They are ordered, so that equal reports lead to equal decisions. */
  private final Map<String, TreeMap<FlowId, Rule>> ofPolicies = new TreeMap<>();

  /* Names of the gateways that have a rule, by the rule's match fields. */
  private final Map<Match, Set<String>> gateways = new HashMap<>();
  private final Map<FlowId, Long> heldUntilNs = new HashMap<>();
  private final Map<FlowId, Released> released = new HashMap<>();

  void put(Rule rule) {
    remove(rule.flow);
    rules.put(rule.flow, rule);
    ofPolicies.computeIfAbsent(rule.policy, any -> new TreeMap<>()).put(rule.flow, rule);
    gateways.computeIfAbsent(Match.of(rule.flow), any -> new HashSet<>()).add(rule.flow.gateway());
  }

  /**
   * Records a rule for a moved flow. Counts a return if an earlier rule of the flow was withdrawn.
   */
  void move(Rule rule) {
    Released before = released.get(rule.flow);
    if (before != null && !rules.containsKey(rule.flow)) {
      before.returns = Math.min(before.returns + 1, MOST_RETURNS);
    }
    put(rule);
  }

  /** Records that a flow's rule was withdrawn because it was needless or the flow had ended. */
  void release(FlowId flow, long nowNs) {
    released.computeIfAbsent(flow, any -> new Released()).atNs = nowNs;
  }

  /** Returns a duration, doubled for each time that the flow needed a rule again. */
  long backedOff(FlowId flow, long firstNs) {
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

  /**
   * Returns whether another gateway has a rule with the same match fields: both rules would be one
   * BGP route.
   */
  boolean isSetElsewhere(FlowId flow) {
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

  /** Drops expired entries. */
  void dropExpired(long nowNs, long firstReleaseNs) {
    heldUntilNs.values().removeIf(until -> nowNs - until >= 0);
    released
        .entrySet()
        .removeIf(each ->
            !rules.containsKey(each.getKey())
                && nowNs - each.getValue().atNs >= CALM * backedOff(each.getKey(), firstReleaseNs));
  }
}
