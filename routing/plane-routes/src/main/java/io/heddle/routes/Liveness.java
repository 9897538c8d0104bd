package io.heddle.routes;

/**
 * State of the route daemon that publishes a routes file.
 *
 * @param state state as the file's reader knows it
 * @param process the daemon's process id in its own namespace
 * @param silenceNs time since the daemon's last heartbeat
 */
public record Liveness(State state, int process, long silenceNs) {
  /** State of a daemon as a reader of its file knows it. */
  public enum State {
    /** The daemon sends heartbeats. */
    ALIVE,
    /** The daemon hasn't sent a heartbeat for several periods, and for a second at least. */
    SILENT,
    /** The daemon ended in good order. */
    ENDED,
    /** Another file has taken the name of this daemon's file. */
    SUPERSEDED
  }
}
