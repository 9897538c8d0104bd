package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import java.util.List;

/**
 * Outcome of one round.
 *
 * @param decisions decisions in the order of execution, withdrawals first
 * @param verdicts one verdict for each policy of the snapshot, the busiest first
 * @param refused moves that would lower the utilisation of a policy's busiest list too little
 */
public record Round(List<Decision> decisions, List<PolicyVerdict> verdicts, List<Refused> refused) {
  public Round {
    decisions = List.copyOf(decisions);
    verdicts = List.copyOf(verdicts);
    refused = List.copyOf(refused);
  }

  /**
   * Refused move.
   *
   * @param flow description of the flow, for messages
   * @param from id of the list that the flow is on
   * @param to id of the list that the flow could be moved to
   * @param before utilisation of the policy's busiest list
   * @param after predicted utilisation of the policy's busiest list after the move
   */
  public record Refused(
      String policy, String flow, int from, int to, double before, double after) {}
}
