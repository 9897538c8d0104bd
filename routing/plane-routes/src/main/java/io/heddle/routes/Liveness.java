package io.heddle.routes;

/**
 * State of a routes file's daemon.
 *
 * @param state the known state
 * @param process the daemon's process id in its own namespace
 * @param silenceNs time since its last heartbeat
 */
public record Liveness(State state, int process, long silenceNs) {
  /** Known state of a daemon. */
  public enum State {
    /** It sends heartbeats. */
    ALIVE,
    /** Its heartbeat is overdue by far. */
    SILENT,
    /** It ended in good order. */
    ENDED,
    /** Another file has taken this one's name. */
    SUPERSEDED
  }
}
