package io.heddle.controller.solver;

/**
 * Verdict of the solver on a policy in one round.
 *
 * @param busiest id of the policy's busiest list; −1 if it has no list
 * @param busiestUtilisation utilisation of the busiest list; 1 is full, more is overload
 * @param idlest id of the policy's least busy list that is up; −1 if none is up
 * @param idlestUtilisation utilisation of the least busy list
 * @param sentence reason for the verdict
 */
public record PolicyVerdict(
    String policy,
    State state,
    int busiest,
    double busiestUtilisation,
    int idlest,
    double idlestUtilisation,
    String sentence) {
  /** State of the policy after the round. */
  public enum State {
    /** There is no imbalance. */
    BALANCED,
    /** More samples must confirm the imbalance, or show the effect of the last moves. */
    WAITING,
    /** The samples are too old to decide. */
    STALE,
    /** Flows are moved in this round. */
    MOVED,
    /** There is an imbalance, but no move lowers the maximum enough. */
    STUCK
  }
}
