package io.heddle.controller.model;

/** A change for one flow, with the sentence that explains it. */
public sealed interface Decision {
  FlowId flow();

  String policy();

  String sentence();

  /**
   * Moves the flow to another list.
   *
   * @param rate in bits per second
   * @param from list that the flow is on
   * @param to list that the rule sends it to
   * @param before utilisation of the policy's busiest list; 1 is full, more is overload
   * @param after predicted utilisation after this move and those before it
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
   * Withdraws the flow's rule; its hash chooses the list again.
   *
   * @param from list of the rule
   */
  record Withdrawal(FlowId flow, String policy, int from, Reason reason, String sentence)
      implements Decision {}

  /** Reason for withdrawing a rule. */
  enum Reason {
    /** The flow is no longer an elephant. */
    FLOW_ENDED,
    /** The rule's list is gone, or no probe gets through. */
    LIST_DEAD,
    /** Without the rule the load is as well balanced. */
    BALANCED
  }
}
