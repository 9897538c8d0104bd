package io.heddle.tools.soak;

/**
 * Fault of a run.
 *
 * @param atMs start, after both ranks are connected
 * @param forMs duration; {@link #FOR_EVER} if the run must end by it
 * @param rank rank whose host or process is affected, from 0
 * @param plane affected plane, from 0; 0 if no plane is affected
 * @param amount packets lost per mille, longest packet in bytes, clock step in seconds, or
 *     announced Gbit/s; else 0
 */
record ChaosEvent(int atMs, int forMs, ChaosFault fault, int rank, int plane, int amount) {
  static final int FOR_EVER = Integer.MAX_VALUE;

  /** Returns whether the connection can't continue. */
  boolean isFatal() {
    return fault == ChaosFault.KILLED_PEER || fault.affectsAllPlanes() && forMs == FOR_EVER;
  }

  /** Returns the end of the fault; in the far future if it isn't undone. */
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
