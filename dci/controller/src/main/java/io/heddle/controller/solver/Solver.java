package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.Decision.Move;
import io.heddle.controller.model.Decision.Reason;
import io.heddle.controller.model.Decision.Withdrawal;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.solver.PolicyVerdict.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Solver that decides in rounds, and damps oscillation by its memory. An imbalance has to last
 * before a flow is moved. The effect of a move has to show before the next move. A moved flow stays
 * on its list for a time. A rule is withdrawn once it has been needless for the release time. Each
 * time that a flow needs a rule again, as with bursts, the flow's release time doubles, up to a
 * limit. All policies of a snapshot share their links; the busiest policy is relieved first. Used
 * by one thread.
 */
public final class Solver {
  /** Memory of one policy between rounds. */
  private static final class PolicyState {
    private long lastSampleNs = Long.MIN_VALUE;
    private int imbalanced;
    private int settling;
  }

  private final SolverSettings settings;
  private final Strategy strategy;
  private final RuleMemory memory = new RuleMemory();
  private final Map<String, PolicyState> policyStates = new HashMap<>();

  public Solver(SolverSettings settings, Strategy strategy) {
    this.settings = settings;
    this.strategy = strategy;
  }

  /** Records a rule that is already in force, such as after a restart or in a dry run. */
  public void adopt(FlowId flow, String policy, int list) {
    memory.put(new RuleMemory.Rule(flow, policy, list));
  }

  /** Returns whether a flow's rule is in force. */
  public boolean hasRule(FlowId flow) {
    return memory.rule(flow) != null;
  }

  /** Returns the next round for a complete snapshot. */
  public Round next(NetworkSnapshot snapshot) {
    return next(snapshot, Set.of());
  }

  /**
   * Returns the next round. The solver assumes that the caller applies it.
   *
   * @param unknown gateways that may have policies missing from the snapshot; rules of such
   *     policies stay
   */
  public Round next(NetworkSnapshot snapshot, Set<String> unknown) {
    Loads loads = new Loads(snapshot);
    List<Decision> decisions = new ArrayList<>();
    List<PolicyVerdict> verdicts = new ArrayList<>();
    List<Round.Refused> refused = new ArrayList<>();
    memory.dropExpired(snapshot.nowNs(), settings.releaseNs());
    withdrawWithoutPolicy(snapshot, unknown, decisions);
    for (SteeredPolicy policy : busiestFirst(snapshot, loads)) {
      verdicts.add(judge(policy, snapshot, loads, decisions, refused));
    }
    decisions.sort(Comparator.comparing(each -> each instanceof Move));
    return new Round(decisions, verdicts, refused);
  }

  private static List<SteeredPolicy> busiestFirst(NetworkSnapshot snapshot, Loads loads) {
    return snapshot.policies().stream()
        .sorted(
            Comparator.<SteeredPolicy>comparingDouble(each -> -loads.maximum(each.name()))
                .thenComparing(SteeredPolicy::name))
        .toList();
  }

  private void withdrawWithoutPolicy(
      NetworkSnapshot snapshot, Set<String> unknown, List<Decision> decisions) {
    Set<String> there = new HashSet<>();
    snapshot.policies().forEach(each -> there.add(each.name()));
    for (RuleMemory.Rule rule : memory.rules()) {
      if (!there.contains(rule.policy) && !unknown.contains(rule.flow.gateway())) {
        withdraw(rule, Reason.LIST_DEAD, Sentences.policyGone(rule), decisions);
      }
    }
    policyStates.keySet().retainAll(there);
  }

  private PolicyVerdict judge(
      SteeredPolicy policy,
      NetworkSnapshot snapshot,
      Loads loads,
      List<Decision> decisions,
      List<Round.Refused> refused) {
    ListRange range = ListRange.of(loads, policy.name());
    SampleAges ages = SampleAges.of(policy, snapshot, loads);
    long limitNs = settings.staleIntervals() * settings.intervalNs();
    if (ages.oldestNs() > limitNs) {
      forgetNeedless(policy.name());
      return range.verdict(State.STALE, Sentences.stale(ages, limitNs));
    }
    PolicyState state = policyStates.computeIfAbsent(policy.name(), any -> new PolicyState());
    boolean fresh = ages.newestSampleNs() > state.lastSampleNs;
    state.lastSampleNs = Math.max(state.lastSampleNs, ages.newestSampleNs());
    withdrawObsolete(policy.name(), snapshot.nowNs(), loads, decisions);
    if (fresh && state.settling > 0) {
      state.settling--;
      state.imbalanced = 0;
      return range.verdict(State.WAITING, Sentences.settling(state.settling));
    }
    if (state.settling > 0) {
      return range.verdict(State.WAITING, Sentences.settling(state.settling));
    }
    if (!range.isImbalanced(settings)) {
      state.imbalanced = 0;
      boolean released = release(policy.name(), snapshot.nowNs(), loads, decisions);
      state.settling = released ? settings.settleSamples() : 0;
      return range.verdict(State.BALANCED, Sentences.balanced(range, settings));
    }
    forgetNeedless(policy.name());
    state.imbalanced += fresh ? 1 : 0;
    if (state.imbalanced < settings.samples()) {
      return range.verdict(
          State.WAITING, Sentences.seenAgain(range, state.imbalanced, settings.samples()));
    }
    return relieve(policy.name(), range, snapshot.nowNs(), loads, state, decisions, refused);
  }

  private PolicyVerdict relieve(
      String policy,
      ListRange range,
      long nowNs,
      Loads loads,
      PolicyState state,
      List<Decision> decisions,
      List<Round.Refused> refused) {
    MovePlanner.Plan plan =
        new MovePlanner(loads, settings, strategy)
            .plan(
                policy,
                flow -> !memory.isHeld(flow.id(), nowNs) && !memory.isSetElsewhere(flow.id()));
    for (MoveCandidate each : plan.refused()) {
      ElephantFlow flow = each.elephant();
      refused.add(
          new Round.Refused(
              policy,
              flow.id().toString(),
              flow.list(),
              each.listId(),
              plan.before(),
              each.predicted()));
    }
    if (plan.steps().isEmpty()) {
      String elsewhere =
          loads.flows(policy).stream()
              .map(each -> loads.flows().get(each))
              .filter(each -> memory.isSetElsewhere(each.id()))
              .findFirst()
              .map(Sentences::taken)
              .orElse("");
      return range.verdict(State.STUCK, Sentences.stuck(range, plan, settings) + elsewhere);
    }
    for (MovePlanner.Step step : plan.steps()) {
      ElephantFlow flow = step.move().elephant();
      int from = loads.list(step.from()).id();
      int to = step.move().listId();
      RuleMemory.Rule rule = memory.rule(flow.id());
      if (step.move().home() && rule != null) {
        /* The flow's hash chooses the target list, so its rule is withdrawn instead of replaced. */
        double after = step.move().predicted();
        withdraw(
            rule, Reason.BALANCED, Sentences.needless(rule, flow, step.before(), after), decisions);
        holdDown(flow.id(), nowNs);
        memory.release(flow.id(), nowNs);
        continue;
      }
      memory.move(new RuleMemory.Rule(flow.id(), policy, to));
      holdDown(flow.id(), nowNs);
      decisions.add(
          new Move(
              flow.id(),
              policy,
              flow.rate(),
              from,
              to,
              step.before(),
              step.move().predicted(),
              Sentences.move(flow, from, to, step.before(), step.move().predicted())));
    }
    state.settling = settings.settleSamples();
    state.imbalanced = 0;
    return range.verdict(
        State.MOVED, Sentences.moved(plan.steps().size(), plan.before(), plan.after()));
  }

  /* Withdraws the rules whose flow or list is gone, even if the load is imbalanced. */
  private void withdrawObsolete(String policy, long nowNs, Loads loads, List<Decision> decisions) {
    for (RuleMemory.Rule rule : memory.rules(policy)) {
      int flow = loads.flow(rule.flow);
      int list = loads.list(policy, rule.list);
      if (flow < 0 || !loads.flows().get(flow).policy().equals(policy)) {
        withdraw(rule, Reason.FLOW_ENDED, Sentences.ended(rule), decisions);
        memory.release(rule.flow, nowNs);
        memory.hold(rule.flow, nowNs + memory.backedOff(rule.flow, settings.holdDownNs()));
      } else if (list < 0 || !loads.list(list).up()) {
        withdraw(rule, Reason.LIST_DEAD, Sentences.listDead(rule), decisions);
      }
    }
  }

  /*
   * Withdraws the rules that have been needless for the release time. Returns whether there was
   * one.
   */
  private boolean release(String policy, long nowNs, Loads loads, List<Decision> decisions) {
    boolean released = false;
    for (RuleMemory.Rule rule : memory.rules(policy)) {
      int i = loads.flow(rule.flow);
      if (i < 0) {
        continue;
      }
      ElephantFlow flow = loads.flows().get(i);
      int home = loads.list(policy, flow.hashList());
      if (home < 0) {
        continue;
      }
      PathList list = loads.list(home);
      double today = loads.maximum(policy);
      double without = home == loads.listOf(i) ? today : loads.outcome(i, home).predicted();
      boolean needless =
          list.up()
              && (without <= settings.low() + Loads.SAME
                  || without <= today + settings.slack() + Loads.SAME);
      if (needless && !rule.needless) {
        rule.needlessSinceNs = nowNs;
      }
      rule.needless = needless;
      if (needless
          && nowNs - rule.needlessSinceNs >= memory.backedOff(flow.id(), settings.releaseNs())) {
        loads.move(i, home);
        withdraw(rule, Reason.BALANCED, Sentences.needless(rule, flow, today, without), decisions);
        holdDown(flow.id(), nowNs);
        memory.release(flow.id(), nowNs);
        released = true;
      }
    }
    return released;
  }

  private void holdDown(FlowId flow, long nowNs) {
    memory.hold(flow, nowNs + settings.holdDownNs());
  }

  private void forgetNeedless(String policy) {
    memory.rules(policy).forEach(each -> each.needless = false);
  }

  private void withdraw(
      RuleMemory.Rule rule, Reason reason, String sentence, List<Decision> decisions) {
    memory.remove(rule.flow);
    decisions.add(new Withdrawal(rule.flow, rule.policy, rule.list, reason, sentence));
  }
}
