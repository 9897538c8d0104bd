package io.heddle.bridge.status;

/**
 * PGM counters of one direction of a group, which follow its packet counters ({@link
 * GroupCounters}). Written by the data thread only.
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

  /** Counts a PGM packet. */
  public static void received(long block) {
    add(block, PACKETS, 1);
  }

  /** Counts a packet that isn't PGM. */
  public static void malformed(long block) {
    add(block, MALFORMED, 1);
  }

  /** Counts an original data packet. */
  public static void data(long block) {
    add(block, DATA, 1);
  }

  /** Counts a repair packet. */
  public static void repeat(long block) {
    add(block, REPEATS, 1);
  }

  /** Counts sequence numbers that are missing. */
  public static void skipped(long block, int numbers) {
    add(block, SKIPPED, numbers);
  }

  /** Counts a missing sequence number that has arrived. */
  public static void gapFilled(long block, boolean byRepeat) {
    add(block, byRepeat ? REPAIRED : LATE, 1);
  }

  /** Counts an original packet whose sequence number had arrived before. */
  public static void duplicate(long block) {
    add(block, DUPLICATES, 1);
  }

  /** Counts a packet whose sequence number is far from all others. */
  public static void stray(long block) {
    add(block, STRAYS, 1);
  }

  /** Counts a restarted source. */
  public static void restarted(long block) {
    add(block, RESTARTS, 1);
  }

  /** Counts a receiver's repair request (NAK), or one sent for another receiver (NNAK). */
  public static void requested(long block) {
    add(block, REQUESTS, 1);
  }

  /** Counts a confirmed request (NCF). */
  public static void confirmed(long block) {
    add(block, CONFIRMATIONS, 1);
  }

  /** Counts a parity packet. */
  public static void parity(long block) {
    add(block, PARITY, 1);
  }

  /** Changes the number of sessions. */
  public static void sessions(long block, int more) {
    add(block, SESSIONS, more);
  }

  /** Counts a session evicted from the full table. */
  public static void evicted(long block) {
    add(block, EVICTED, 1);
  }

  /** Counts a session that expired. */
  public static void aged(long block) {
    add(block, AGED, 1);
  }
}
