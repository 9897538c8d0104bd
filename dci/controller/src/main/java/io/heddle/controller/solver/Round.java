package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import java.util.List;

/**
 * One round's outcome.
 *
 * @param decisions in the order in which they are carried out: withdrawals first
 * @param verdicts one for each policy
 * @param refused moves that were looked at and lower the maximum too little
 */
public record Round(List<Decision> decisions, List<PolicyVerdict> verdicts, List<Refused> refused) {
  public Round {
    decisions = List.copyOf(decisions);
    verdicts = List.copyOf(verdicts);
    refused = List.copyOf(refused);
  }

  /**
   * A move that wasn't made.
   *
   * @param flow as people read it
   * @param from number of the list that it is on
   * @param to number of the list that it could go to
   * @param before utilisation of the policy's busiest list
   * @param after the same with the move
   */
  public record Refused(
      String policy, String flow, int from, int to, double before, double after) {}
}
