package io.heddle.cli.soak;

/** What the soak does to a running connection. */
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

  /** What of the run it touches, and where it can be done. */
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

  /** Whether it is done to a rank's process, not to the network. */
  boolean isOfProcess() {
    return reach == Reach.PROCESS;
  }

  /** Whether it is done to one plane. */
  boolean hasPlane() {
    return reach == Reach.PLANE || reach == Reach.FABRIC_PLANE;
  }

  /** Whether it leaves no plane. */
  boolean takesAll() {
    return reach == Reach.HOST;
  }
}
