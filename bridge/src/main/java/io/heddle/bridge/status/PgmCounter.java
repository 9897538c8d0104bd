package io.heddle.bridge.status;

/**
 * Counter of PGM. Each direction of a group has all of them, after its packet counters ({@link
 * GroupCounters}). Each session has those from {@link #DATA} to {@link #REQUESTS}. The order of the
 * constants is that in the status file. Written by the data thread only.
 */
public enum PgmCounter {
  /** PGM packets. */
  PACKETS,
  /** Packets that aren't PGM. */
  MALFORMED,
  /** Original data packets. */
  DATA,
  /** Repair packets. */
  REPEATS,
  /** Sequence numbers that were missing. */
  SKIPPED,
  /** Missing sequence numbers that arrived afterwards in an original packet. */
  LATE,
  /** Missing sequence numbers that arrived afterwards in a repair packet. */
  REPAIRED,
  /** Original packets whose sequence number had arrived before. */
  DUPLICATES,
  /** Packets whose sequence number is far from all others. */
  STRAYS,
  /** Restarts of sources. */
  RESTARTS,
  /** Receivers' repair requests (NAK), and those sent for another receiver (NNAK). */
  REQUESTS,
  /** Confirmed requests (NCF). */
  CONFIRMATIONS,
  /** Parity packets. */
  PARITY,
  /** Current number of sessions. */
  SESSIONS,
  /** Sessions evicted from the full table. */
  EVICTED,
  /** Sessions that expired. */
  AGED;

  private static final int FIRST = 48;

  /** Counts in the block of a group and direction. */
  public void add(long block, long more) {
    GroupCounters.add(block, FIRST + ordinal(), more);
  }

  long get(long block) {
    return GroupCounters.get(block, FIRST + ordinal());
  }
}
