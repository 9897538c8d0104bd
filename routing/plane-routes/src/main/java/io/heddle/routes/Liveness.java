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
    /** The daemon sends heartbeats. */
    ALIVE,
    /** The daemon's heartbeat is overdue by far. */
    SILENT,
    /** The daemon ended in good order. */
    ENDED,
    /** Another file has taken the name of this daemon's file. */
    SUPERSEDED
  }
}
