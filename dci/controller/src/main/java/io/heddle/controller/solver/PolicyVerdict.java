package io.heddle.controller.solver;

/**
 * The solver's verdict on a policy in one round.
 *
 * @param busiest number of its busiest list; −1 if it has none
 * @param busiestUtilisation 1 is full, more is overload
 * @param idlest number of its least busy list; −1 if none is up
 * @param idlestUtilisation utilisation of that list
 * @param sentence reason
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
    /** There is nothing to relieve. */
    BALANCED,
    /** Another sample has to confirm the imbalance, or show the effect of the last moves. */
    WAITING,
    /** The samples are too old to decide. */
    STALE,
    /** Flows are moved in this round. */
    MOVED,
    /** There is an imbalance, but no move lowers the maximum enough. */
    STUCK
  }
}
