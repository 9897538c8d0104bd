package io.heddle.routes;

/**
 * What a routes file says about its daemon.
 *
 * @param state what is known
 * @param process id that the daemon had, in its own namespace
 * @param silenceNs time since its last sign of life
 */
public record Liveness(State state, int process, long silenceNs) {
  /** What is known of a daemon. */
  public enum State {
    /** It gives signs of life. */
    ALIVE,
    /** It gave none for far longer than it promised. */
    SILENT,
    /** It ended in good order. */
    ENDED,
    /** Another file has taken this one's name. */
    SUPERSEDED
  }
}
