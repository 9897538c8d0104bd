package io.heddle.perftest;

/**
 * Idle policy of a loop: it decides when the loop yields its core to other threads, and how. Only
 * the loop's thread uses it.
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

  /*
   * Number of consecutive empty rounds before a rest. With a rest after each empty round, a waiting
   * end spent more than half of its time in the kernel.
   */
  private static final int ROUNDS = 1 << 11;
  /*
   * Longest real duration of a nap: the timer's slack and the delay until the thread runs again may
   * double NAP_NS.
   */
  private static final long LONGEST_NAP_NS = 2 * NAP_NS;
  /*
   * Fastest arrival of data: 400 Gb/s. A loop may nap if its posted receives hold the data that
   * arrives during a nap at this rate.
   */
  private static final long FASTEST_BYTES_PER_US = 50_000;
  private static final long NAP_BYTES = FASTEST_BYTES_PER_US * LONGEST_NAP_NS / 1_000;

  private final Rest rest;
  private int idleRounds;

  private IdlePolicy(Rest rest) {
    this.rest = rest;
  }

  /**
   * Returns the policy of a loop for whose messages the peer waits. The loop yields, but never
   * naps.
   */
  static IdlePolicy ofSender() {
    return new IdlePolicy(Rest.YIELD);
  }

  /**
   * Returns the policy of a test's loop. A loop that only receives and shares a core with the
   * sender gets half of the core, however often it yields. It therefore naps if its posted receives
   * can hold the data that arrive during a nap.
   *
   * @param sizeBytes length of a message
   */
  static IdlePolicy of(Settings settings, long sizeBytes) {
    long postedBytes = sizeBytes * settings.traffic().receiveDepth();
    boolean naps = !settings.sends() && postedBytes >= NAP_BYTES;
    return new IdlePolicy(naps ? Rest.NAP : Rest.YIELD);
  }

  /**
   * Returns the rest that the loop must make after a round. Must be called after each round.
   *
   * @param work number of events in the round
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
