package io.heddle.controller.solver;

/**
 * What the solver made of a policy in one round.
 *
 * @param busiest number of its busiest list; −1 where it has none
 * @param busiestUtilisation 0 to 1, and more where more is offered than the list carries
 * @param idlest number of its idlest list; −1 where none is up
 * @param idlestUtilisation the same of that one
 * @param sentence why it did what it did
 */
public record PolicyVerdict(
    String policy,
    State state,
    int busiest,
    double busiestUtilisation,
    int idlest,
    double idlestUtilisation,
    String sentence) {
  /** In which state it left the policy. */
  public enum State {
    /** Nothing to relieve. */
    BALANCED,
    /** There is an imbalance, and it has to be seen again, or the last moves have to be. */
    WAITING,
    /** What is known is too old to decide by. */
    STALE,
    /** Flows are moved in this round. */
    MOVED,
    /** There is an imbalance, and no move lowers the maximum enough. */
    STUCK
  }
}
