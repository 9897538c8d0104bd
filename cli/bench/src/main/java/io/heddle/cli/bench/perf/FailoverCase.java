package io.heddle.cli.bench.perf;

/** How a plane is taken from a job, and what is asked of the job then. */
enum FailoverCase {
  /** Nothing happens: what the measurement itself sees. */
  NOTHING("nothing", "nothing happens", 0),

  /** The interface goes down at one host. */
  CARRIER("carrier", "the interface goes down", 50),

  /** Packets vanish; nobody tells. */
  SILENT("silent", "packets vanish, no BFD", 1_000),

  /** Packets vanish; the routers notice by BFD and withdraw their routes. */
  SILENT_BFD("silent-bfd", "packets vanish, BFD between routers", 300),

  /** The plane's leaf announces that it doesn't reach a host any more; packets still pass. */
  WITHDRAWAL("withdrawal", "the leaf announces the host as unreachable", 0);

  private final String word;
  private final String text;
  private final int aimMs;

  FailoverCase(String word, String text, int aimMs) {
    this.word = word;
    this.text = text;
    this.aimMs = aimMs;
  }

  /** For the command line. */
  @Override
  public String toString() {
    return word;
  }

  String text() {
    return text;
  }

  /** From the event to full speed, in milliseconds; 0 where there must be no stall at all. */
  int aimMs() {
    return aimMs;
  }

  /** Whether it needs routers. */
  boolean onFabric() {
    return this == SILENT_BFD || this == WITHDRAWAL;
  }
}
