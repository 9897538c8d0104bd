package io.heddle.bridge.status;

import io.heddle.platform.Memory;
import java.lang.invoke.VarHandle;
import java.util.Locale;

/**
 * Counters of one PGM session, as a record in the status file. Written by the data thread only. The
 * record's version is odd while the record is reassigned, and 0 while it is free.
 */
public final class PgmSessionCounters {
  /** Maximum number of sessions. */
  public static final int MOST_SESSIONS = 1024;

  static final int VERSION_AT = 0;
  static final int SLOT_AT = 4;
  static final int SESSION_AT = 8;
  static final int SOURCE_AT = 16;
  static final int SIDE_AT = 32;
  static final int LEAD_AT = 36;
  static final int HEARD_NS_AT = 40;
  private static final int COUNTERS_AT = 48;

  static final int DATA = 0;
  static final int REPEATS = 1;
  static final int SKIPPED = 2;
  static final int LATE = 3;
  static final int REPAIRED = 4;
  static final int DUPLICATES = 5;
  static final int STRAYS = 6;
  static final int RESTARTS = 7;
  static final int REQUESTS = 8;

  /** Length of a record. */
  public static final int BYTES = 128;

  private PgmSessionCounters() {}

  /** Returns a transport session id in its usual notation: {@code 3329041eba74.13320}. */
  public static String name(long session) {
    return String.format(Locale.ROOT, "%012x.%s", session >>> Short.SIZE, session & 0xffff);
  }

  static long get(long at, int counter) {
    return Memory.getLong(at + COUNTERS_AT + (long) counter * Long.BYTES);
  }

  private static void add(long at, int counter, long more) {
    long counted = at + COUNTERS_AT + (long) counter * Long.BYTES;
    Memory.setLong(counted, Memory.getLong(counted) + more);
  }

  /**
   * Assigns a record to a session, with counters of zero.
   *
   * @param at address of the record
   * @param slot index of the group in the status file
   * @param side fabric that the session's data come from, 0 for a
   */
  public static void open(long at, int slot, int side, long session) {
    int version = Memory.getInt(at + VERSION_AT) | 1;
    Memory.setIntRelease(at + VERSION_AT, version);
    VarHandle.storeStoreFence();
    Memory.clear(at + SLOT_AT, BYTES - SLOT_AT);
    Memory.setInt(at + SLOT_AT, slot);
    Memory.setInt(at + SIDE_AT, side);
    Memory.setLong(at + SESSION_AT, session);
    /* The next version skips 0, which means a free record. */
    Memory.setIntRelease(at + VERSION_AT, version == -1 ? 2 : version + 1);
  }

  /** Frees the record. */
  public static void release(long at) {
    Memory.setIntRelease(at + VERSION_AT, 0);
  }

  /** Records the address and time of the source's last packet. */
  public static void heard(long at, long sourceHigh, long sourceLow, int lead, long nowNs) {
    Memory.setLong(at + SOURCE_AT, sourceHigh);
    Memory.setLong(at + SOURCE_AT + Long.BYTES, sourceLow);
    Memory.setInt(at + LEAD_AT, lead);
    Memory.setLong(at + HEARD_NS_AT, nowNs);
  }

  /** Counts an original data packet, or a repair. */
  public static void data(long at, boolean repeat) {
    add(at, repeat ? REPEATS : DATA, 1);
  }

  /** Counts missing sequence numbers, as {@link PgmCounters#skipped} does. */
  public static void skipped(long at, int numbers) {
    add(at, SKIPPED, numbers);
  }

  /** Counts a missing sequence number that has arrived, as {@link PgmCounters#gapFilled} does. */
  public static void gapFilled(long at, boolean byRepeat) {
    add(at, byRepeat ? REPAIRED : LATE, 1);
  }

  /** Counts a duplicate, as {@link PgmCounters#duplicate} does. */
  public static void duplicate(long at) {
    add(at, DUPLICATES, 1);
  }

  /** Counts a stray sequence number, as {@link PgmCounters#stray} does. */
  public static void stray(long at) {
    add(at, STRAYS, 1);
  }

  /** Counts a restart of the source, as {@link PgmCounters#restarted} does. */
  public static void restarted(long at) {
    add(at, RESTARTS, 1);
  }

  /** Counts a repair request, as {@link PgmCounters#requested} does. */
  public static void requested(long at) {
    add(at, REQUESTS, 1);
  }
}
