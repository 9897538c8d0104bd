package io.heddle.controller.model;

/** Change of the list of one flow, with a sentence that explains it. */
public sealed interface Decision {
  FlowId flow();

  String policy();

  String sentence();

  /**
   * Moves the flow to another list.
   *
   * @param rate rate of the flow in bits per second
   * @param from list that the flow is on
   * @param to list that the rule sends the flow to
   * @param before utilisation of the policy's busiest list before this move; 1 is full, more is
   *     overload
   * @param after predicted utilisation of the policy's busiest list after this move
   */
  record Move(
      FlowId flow,
      String policy,
      double rate,
      int from,
      int to,
      double before,
      double after,
      String sentence)
      implements Decision {}

  /**
   * Withdraws the flow's rule, so that the flow's hash chooses the list again.
   *
   * @param from list that the rule sent the flow to
   */
  record Withdrawal(FlowId flow, String policy, int from, Reason reason, String sentence)
      implements Decision {}

  /** Reason for withdrawing a rule. */
  enum Reason {
    /** The flow is no longer an elephant. */
    FLOW_ENDED,
    /** The rule's list or policy is gone, or the list is dead. */
    LIST_DEAD,
    /** The load is balanced well enough without the rule. */
    BALANCED
  }
}
