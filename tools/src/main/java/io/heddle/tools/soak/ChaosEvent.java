package io.heddle.tools.soak;

/**
 * Fault that a run injects.
 *
 * @param atMs time from the start of the faults until this one begins, ms; both ranks are connected
 *     by then
 * @param forMs duration, ms; {@link #FOR_EVER} if the fault isn't undone
 * @param rank rank whose host or process is affected, from 0
 * @param plane affected plane, from 0; 0 if no plane is affected
 * @param amount extent of the fault, by its kind: packets lost per mille, longest packet in bytes,
 *     clock step in seconds, or announced Gbit/s; 0 for other kinds
 */
record ChaosEvent(int atMs, int forMs, ChaosFault fault, int rank, int plane, int amount) {
  static final int FOR_EVER = Integer.MAX_VALUE;

  /** Returns whether the connection can't survive the fault. */
  boolean isFatal() {
    return fault == ChaosFault.KILLED_PEER || fault.affectsAllPlanes() && forMs == FOR_EVER;
  }

  /** Returns the time of the fault's end, ms; far in the future if the fault isn't undone. */
  long endMs() {
    return (long) atMs + forMs;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder().append(atMs).append(" ms: ").append(fault.text());
    switch (fault) {
      case LOSS -> text.append(" of ").append(amount / 10.0).append(" %");
      case NARROWED -> text.append(" to ").append(amount).append(" B");
      case CLOCK_STEP -> text.append(" by ").append(amount).append(" s");
      case WEIGHT_CHANGE -> text.append(" of ").append(amount).append(" Gbit/s");
      case CARRIER_CUT,
          SILENT_CUT,
          ADDRESS_REMOVED,
          ALL_LINKS_DOWN,
          ALL_SILENT,
          STOPPED_PEER,
          KILLED_PEER,
          SPINE_CUT,
          SPINE_SILENT,
          SESSION_RESET,
          DAEMON_KILLED -> {}
    }
    if (fault.hasPlane()) {
      text.append(" on plane ").append(plane + 1);
    }
    text.append(" at rank ").append(rank);
    return text.append(forMs == FOR_EVER ? ", for good" : ", " + forMs + " ms").toString();
  }
}
