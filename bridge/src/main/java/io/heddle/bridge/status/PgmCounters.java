package io.heddle.bridge.status;

/**
 * What a direction of a group counts of PGM beside its packets, in the counters of a group ({@link
 * GroupCounters}). The data thread alone writes them.
 */
public final class PgmCounters {
  static final int PACKETS = 48;
  static final int MALFORMED = 49;
  static final int DATA = 50;
  static final int REPEATS = 51;
  static final int SKIPPED = 52;
  static final int LATE = 53;
  static final int REPAIRED = 54;
  static final int DUPLICATES = 55;
  static final int STRAYS = 56;
  static final int RESTARTS = 57;
  static final int REQUESTS = 58;
  static final int CONFIRMATIONS = 59;
  static final int PARITY = 60;
  static final int SESSIONS = 61;
  static final int EVICTED = 62;
  static final int AGED = 63;

  private PgmCounters() {}

  private static void add(long block, int counter, long more) {
    GroupCounters.set(block, counter, GroupCounters.get(block, counter) + more);
  }

  /** A packet came that is PGM's. */
  public static void came(long block) {
    add(block, PACKETS, 1);
  }

  /** A packet came that isn't. */
  public static void malformed(long block) {
    add(block, MALFORMED, 1);
  }

  /** An original packet of data came. */
  public static void data(long block) {
    add(block, DATA, 1);
  }

  /** A repeat of data came. */
  public static void repeat(long block) {
    add(block, REPEATS, 1);
  }

  /** So many numbers were left out. */
  public static void skipped(long block, int numbers) {
    add(block, SKIPPED, numbers);
  }

  /** A number that was left out came after all. */
  public static void missed(long block, boolean byRepeat) {
    add(block, byRepeat ? REPAIRED : LATE, 1);
  }

  /** A number came a second time in an original packet. */
  public static void duplicate(long block) {
    add(block, DUPLICATES, 1);
  }

  /** A number came that is far from all others. */
  public static void stray(long block) {
    add(block, STRAYS, 1);
  }

  /** A source began anew. */
  public static void restarted(long block) {
    add(block, RESTARTS, 1);
  }

  /** A receiver asked for a repeat (NAK), or for another receiver (NNAK). */
  public static void requested(long block) {
    add(block, REQUESTS, 1);
  }

  /** A request was confirmed (NCF). */
  public static void confirmed(long block) {
    add(block, CONFIRMATIONS, 1);
  }

  /** A packet of parity came. */
  public static void parity(long block) {
    add(block, PARITY, 1);
  }

  /** One session more, or one less. */
  public static void sessions(long block, int more) {
    add(block, SESSIONS, more);
  }

  /** A session went for lack of room. */
  public static void evicted(long block) {
    add(block, EVICTED, 1);
  }

  /** A session went since it was silent. */
  public static void aged(long block) {
    add(block, AGED, 1);
  }
}
