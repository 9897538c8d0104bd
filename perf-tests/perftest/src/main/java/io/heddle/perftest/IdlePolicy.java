package io.heddle.perftest;

/**
 * Idle policy of a loop: when it yields to others on its core, and how. It only decides; used by
 * the loop's thread.
 */
final class IdlePolicy {
  /** Action before the loop's next round. */
  enum Rest {
    NONE,
    YIELD,
    /** Sleeps for {@link #NAP_NS}. */
    NAP
  }

  static final long NAP_NS = 50_000;

  /* A waiting end that yielded in each empty round spent more than half of its time in the kernel. */
  private static final int ROUNDS = 1 << 11;
  /* With the timer's slack and the delay until it runs again, a nap lasts up to twice as long. */
  private static final long LONGEST_NAP_NS = 2 * NAP_NS;
  /* 400 Gb/s. A loop may nap if its posted receives hold the data that arrives during a nap at this rate. */
  private static final long FASTEST_BYTES_PER_US = 50_000;
  private static final long NAP_BYTES = FASTEST_BYTES_PER_US * LONGEST_NAP_NS / 1_000;

  private final Rest rest;
  private int idleRounds;

  private IdlePolicy(Rest rest) {
    this.rest = rest;
  }

  /** Returns that of a loop for which others wait as soon as a message arrives. */
  static IdlePolicy ofSender() {
    return new IdlePolicy(Rest.YIELD);
  }

  /**
   * Returns that of a test. A loop that only receives gets half of a core that it shares with the
   * sender, however often it yields: if its receives last longer than a nap, it naps.
   *
   * @param sizeBytes of a message
   */
  static IdlePolicy of(Settings settings, long sizeBytes) {
    long postedBytes = sizeBytes * settings.traffic().receiveDepth();
    boolean naps = !settings.sends() && postedBytes >= NAP_BYTES;
    return new IdlePolicy(naps ? Rest.NAP : Rest.YIELD);
  }

  /**
   * Called once per round.
   *
   * @param work number of events in it
   */
  Rest after(int work) {
    if (work != 0) {
      idleRounds = 0;
      return Rest.NONE;
    }
    if (++idleRounds <= ROUNDS) {
      return Rest.NONE;
    }
    idleRounds = 0;
    return rest;
  }
}
