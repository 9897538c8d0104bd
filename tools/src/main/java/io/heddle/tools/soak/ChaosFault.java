package io.heddle.tools.soak;

/** Kind of fault that the soak injects into a running connection. */
enum ChaosFault {
  CARRIER_CUT("link down", Reach.PLANE),
  SILENT_CUT("silent cut", Reach.PLANE),
  ADDRESS_REMOVED("address removed", Reach.PLANE),
  LOSS("loss on a plane", Reach.PLANE),
  NARROWED("plane narrowed", Reach.PLANE),
  ALL_LINKS_DOWN("all links down", Reach.HOST),
  ALL_SILENT("all planes silent", Reach.HOST),
  STOPPED_PEER("peer stopped", Reach.PROCESS),
  KILLED_PEER("peer killed", Reach.PROCESS),
  CLOCK_STEP("wall clock stepped", Reach.PROCESS),
  SPINE_CUT("link to a spine down", Reach.FABRIC_PLANE),
  SPINE_SILENT("link to a spine silent", Reach.FABRIC_PLANE),
  WEIGHT_CHANGE("other path bandwidth", Reach.FABRIC_PLANE),
  SESSION_RESET("BGP session reset", Reach.FABRIC_HOST),
  DAEMON_KILLED("route daemon killed", Reach.FABRIC_HOST);

  /**
   * Part of the run that a fault affects. {@code FABRIC_…} faults need a fabric; {@code PLANE} and
   * {@code HOST} faults need direct links.
   */
  enum Reach {
    PLANE,
    HOST,
    PROCESS,
    FABRIC_PLANE,
    FABRIC_HOST
  }

  private final String text;
  private final Reach reach;

  ChaosFault(String text, Reach reach) {
    this.text = text;
    this.reach = reach;
  }

  String text() {
    return text;
  }

  Reach reach() {
    return reach;
  }

  /** Returns whether the fault affects a rank's process and not the network. */
  boolean isOfProcess() {
    return reach == Reach.PROCESS;
  }

  /** Returns whether the fault affects one plane only. */
  boolean hasPlane() {
    return reach == Reach.PLANE || reach == Reach.FABRIC_PLANE;
  }

  /** Returns whether the fault affects all planes of a host. */
  boolean affectsAllPlanes() {
    return reach == Reach.HOST;
  }
}
