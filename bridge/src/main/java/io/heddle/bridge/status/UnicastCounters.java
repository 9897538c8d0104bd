package io.heddle.bridge.status;

/**
 * What a direction of unicast counts beside its packets, in the counters of a group ({@link
 * GroupCounters}). Requests are those of the clients in the fabric that the direction begins in.
 * The data thread alone writes them.
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

  /** A client asked for a queue pair's number for the first time, or again. */
  public static void requested(long block, boolean again) {
    add(block, again ? REPEATS : REQUESTS);
  }

  /** A client's request got its reply. */
  public static void replied(long block) {
    add(block, REPLIES);
  }

  /** A client's request got none in time, and the bridge told the client so. */
  public static void timedOut(long block) {
    add(block, TIMED_OUT);
  }

  /** How many requests wait now, and how many went since there was no room. */
  public static void requests(long block, int open, long evicted) {
    GroupCounters.set(block, OPEN, open);
    GroupCounters.set(block, REQUESTS_EVICTED, evicted);
  }

  /** How many pairs of hosts there are now, and how many went for lack of room or use. */
  public static void pairs(long block, int now, long evicted, long aged) {
    GroupCounters.set(block, PAIRS, now);
    GroupCounters.set(block, PAIRS_EVICTED, evicted);
    GroupCounters.set(block, PAIRS_AGED, aged);
  }
}
