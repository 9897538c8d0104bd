package io.heddle.controller.solver;

import io.heddle.controller.model.Decision;
import java.util.List;

/**
 * Outcome of one round.
 *
 * @param decisions in order of execution: withdrawals first
 * @param verdicts one per policy
 * @param refused moves that would lower the maximum too little
 */
public record Round(List<Decision> decisions, List<PolicyVerdict> verdicts, List<Refused> refused) {
  public Round {
    decisions = List.copyOf(decisions);
    verdicts = List.copyOf(verdicts);
    refused = List.copyOf(refused);
  }

  /**
   * A refused move.
   *
   * @param flow for messages
   * @param from number of the list that it is on
   * @param to number of the list that it could go to
   * @param before utilisation of the policy's busiest list
   * @param after the same with the move
   */
  public record Refused(
      String policy, String flow, int from, int to, double before, double after) {}
}
