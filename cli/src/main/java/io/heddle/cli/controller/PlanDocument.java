package io.heddle.cli.controller;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.solver.ListForecast;
import io.heddle.controller.solver.PolicyVerdict;
import io.heddle.controller.solver.Round;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Document that {@code heddle controller plan} prints. */
record PlanDocument(
    List<PolicyRow> policies,
    List<ListRow> lists,
    List<DecisionRow> decisions,
    List<RefusedRow> refused) {
  /**
   * A policy.
   *
   * @param policy name of the policy
   * @param state state of the policy after the decisions
   * @param sentence reason of the state, as a sentence
   */
  record PolicyRow(String policy, PolicyVerdict.State state, String sentence) {}

  /**
   * A segment list.
   *
   * @param policy policy of the list
   * @param list number of the list
   * @param utilisation utilisation of the list's busiest link, 0 to 1; above 1 if more traffic is
   *     offered than the link carries
   * @param utilisationAfter utilisation of the list's busiest link after all decisions
   */
  record ListRow(String policy, int list, double utilisation, double utilisationAfter) {}

  /**
   * A decision about a flow.
   *
   * @param action {@code move} announces a rule, {@code withdraw} withdraws one
   * @param policy policy of the flow
   * @param gateway gateway that sends the flow
   * @param source address of the sender
   * @param destination address of the queue pair
   * @param queuePair number of the queue pair
   * @param from number of the flow's list before the decision
   * @param to number of the flow's list after it; null if the flow's hash chooses the list
   * @param sentence reason of the decision, as a sentence
   */
  record DecisionRow(
      String action,
      String policy,
      String gateway,
      String source,
      String destination,
      int queuePair,
      int from,
      @Nullable Integer to,
      String sentence) {}

  /**
   * A considered move that lowers the busiest list too little.
   *
   * @param policy policy of the flow
   * @param flow number and address of the queue pair
   * @param from number of the flow's list
   * @param to number of the list to which the flow would move
   * @param utilisation utilisation of the policy's busiest list
   * @param utilisationAfter utilisation of the busiest list after the move
   */
  record RefusedRow(
      String policy, String flow, int from, int to, double utilisation, double utilisationAfter) {}

  static PlanDocument of(Round round, List<ListForecast> lists) {
    return new PlanDocument(
        round.verdicts().stream()
            .map(each -> new PolicyRow(each.policy(), each.state(), each.sentence()))
            .toList(),
        lists.stream()
            .map(each -> new ListRow(each.policy(), each.list(), each.now(), each.after()))
            .toList(),
        round.decisions().stream().map(PlanDocument::row).toList(),
        round.refused().stream()
            .map(each ->
                new RefusedRow(
                    each.policy(),
                    each.flow(),
                    each.from(),
                    each.to(),
                    each.before(),
                    each.after()))
            .toList());
  }

  private static DecisionRow row(Decision decision) {
    return switch (decision) {
      case Decision.Move move -> row("move", move, move.from(), move.to());
      case Decision.Withdrawal gone -> row("withdraw", gone, gone.from(), null);
    };
  }

  private static DecisionRow row(String action, Decision decision, int from, @Nullable Integer to) {
    FlowId flow = decision.flow();
    return new DecisionRow(
        action,
        decision.policy(),
        flow.gateway(),
        flow.source(),
        flow.destination(),
        flow.queuePair(),
        from,
        to,
        decision.sentence());
  }
}
