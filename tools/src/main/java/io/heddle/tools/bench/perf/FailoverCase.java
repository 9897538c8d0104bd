package io.heddle.tools.bench.perf;

/** Kind of plane loss, with the time in which the job must recover. */
enum FailoverCase {
  /** Control case, in which nothing happens. */
  NOTHING("nothing", "nothing happens", 0),

  /** The interface at one host goes down. */
  CARRIER("carrier", "the interface goes down", 50),

  /** Packets are lost, and nothing notifies the hosts. */
  SILENT("silent", "packets vanish, no BFD", 1_000),

  /** Packets are lost. The routers detect it by BFD and withdraw their routes. */
  SILENT_BFD("silent-bfd", "packets vanish, BFD between routers", 300),

  /** The plane's leaf announces a host as unreachable; packets still pass. */
  WITHDRAWAL("withdrawal", "the leaf announces the host as unreachable", 0);

  private final String word;
  private final String text;
  private final int aimMs;

  FailoverCase(String word, String text, int aimMs) {
    this.word = word;
    this.text = text;
    this.aimMs = aimMs;
  }

  /** Returns the name of the case on the command line. */
  @Override
  public String toString() {
    return word;
  }

  String text() {
    return text;
  }

  /**
   * Returns the time in ms that the job may take from the event to full speed; 0 if no stall is
   * allowed.
   */
  int aimMs() {
    return aimMs;
  }

  /** Returns whether the case needs a fabric of routers. */
  boolean onFabric() {
    return this == SILENT_BFD || this == WITHDRAWAL;
  }
}
