package io.heddle.cli.controller;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.solver.Outlook;
import io.heddle.controller.solver.PolicyVerdict;
import io.heddle.controller.solver.Round;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code heddle controller plan} prints. */
record PlanDocument(
    List<PolicyRow> policies,
    List<ListRow> lists,
    List<DecisionRow> decisions,
    List<RefusedRow> refused) {
  /**
   * A policy.
   *
   * @param policy its name
   * @param state in which the decisions leave it
   * @param sentence why
   */
  record PolicyRow(String policy, PolicyVerdict.State state, String sentence) {}

  /**
   * A segment list.
   *
   * @param policy that it belongs to
   * @param list its number
   * @param utilisation of its busiest link, 0 to 1; above 1 where it is offered more
   * @param utilisationAfter the same once all decisions are carried out
   */
  record ListRow(String policy, int list, double utilisation, double utilisationAfter) {}

  /**
   * What would be done about a flow.
   *
   * @param action {@code move} announces a rule, {@code withdraw} takes one back
   * @param policy that the flow belongs to
   * @param gateway whose flow it is
   * @param source address of the sender
   * @param destination address of the queue pair
   * @param queuePair its number
   * @param from list that it is on, or that its rule sends it to
   * @param to list that it would go to; null where its hash decides
   * @param sentence why
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
   * A move that was looked at and lowers the busiest list too little.
   *
   * @param policy that the flow belongs to
   * @param flow the queue pair and its address
   * @param from list that it is on
   * @param to list that it could go to
   * @param utilisation of the policy's busiest list
   * @param utilisationAfter the same with the move
   */
  record RefusedRow(
      String policy, String flow, int from, int to, double utilisation, double utilisationAfter) {}

  static PlanDocument of(Round round, List<Outlook> lists) {
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
