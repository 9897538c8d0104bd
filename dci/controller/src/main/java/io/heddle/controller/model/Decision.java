package io.heddle.controller.model;

/** Something to do about one flow, with the sentence that explains it. */
public sealed interface Decision {
  FlowId flow();

  String policy();

  String sentence();

  /**
   * The flow goes to another list.
   *
   * @param rate in bits a second
   * @param from list that it is on
   * @param to list that a rule is to send it to
   * @param before utilisation of the policy's busiest list, 0 to 1 and more
   * @param after the same as it will be with this move and those before it
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
   * The flow's rule is withdrawn, and its hash decides again.
   *
   * @param from list of the rule
   */
  record Withdrawal(FlowId flow, String policy, int from, Reason reason, String sentence)
      implements Decision {}

  /** Why a rule has outlived its purpose. */
  enum Reason {
    /** The flow is no elephant any more. */
    FLOW_ENDED,
    /** The rule's list is gone, or nothing gets through. */
    LIST_DEAD,
    /** Without the rule the load is as good. */
    BALANCED
  }
}
