package io.heddle.bridge.status;

/**
 * Unicast counters of one direction, which follow its packet counters ({@link GroupCounters}). They
 * count requests of the clients in the direction's source fabric. Written by the data thread only.
 */
public final class UnicastCounters {
  static final int REQUESTS = 48;
  static final int REPEATS = 49;
  static final int REPLIES = 50;
  static final int TIMED_OUT = 51;
  static final int OPEN = 52;
  static final int REQUESTS_EVICTED = 53;
  static final int PAIRS = 54;
  static final int PAIRS_EVICTED = 55;
  static final int PAIRS_AGED = 56;

  private UnicastCounters() {}

  private static void add(long block, int counter) {
    GroupCounters.set(block, counter, GroupCounters.get(block, counter) + 1);
  }

  /** Counts a client's request for a queue pair's number, or its repeat. */
  public static void requested(long block, boolean again) {
    add(block, again ? REPEATS : REQUESTS);
  }

  /** Counts a client's request that got its reply. */
  public static void replied(long block) {
    add(block, REPLIES);
  }

  /**
   * Counts a client's request that got no reply in time, so that the bridge reported its failure.
   */
  public static void timedOut(long block) {
    add(block, TIMED_OUT);
  }

  /**
   * Sets the number of waiting requests, and the number of requests evicted from the full table.
   */
  public static void requests(long block, int open, long evicted) {
    GroupCounters.set(block, OPEN, open);
    GroupCounters.set(block, REQUESTS_EVICTED, evicted);
  }

  /** Sets the current number of host pairs, and the numbers of evicted and of expired pairs. */
  public static void pairs(long block, int now, long evicted, long aged) {
    GroupCounters.set(block, PAIRS, now);
    GroupCounters.set(block, PAIRS_EVICTED, evicted);
    GroupCounters.set(block, PAIRS_AGED, aged);
  }
}
