package io.heddle.cli.soak;

/**
 * One fault of a run.
 *
 * @param atMs after both ranks are connected
 * @param forMs until it is undone; {@link #FOR_EVER} where the run must end by it
 * @param rank whose host or process it is done to, from 0
 * @param plane from 0; 0 where it isn't done to a plane
 * @param amount thousandths lost, bytes of the longest packet, seconds of a clock's step, or Gbit/s
 *     that are announced; else 0
 */
record ChaosEvent(int atMs, int forMs, ChaosFault fault, int rank, int plane, int amount) {
  static final int FOR_EVER = Integer.MAX_VALUE;

  /** Whether the connection can't go on. */
  boolean isFatal() {
    return fault == ChaosFault.KILLED_PEER || fault.takesAll() && forMs == FOR_EVER;
  }

  /** When it is over; far away for one that isn't undone. */
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
