package io.heddle.bridge.status;

import io.heddle.platform.Memory;
import java.lang.invoke.VarHandle;
import java.util.Locale;

/**
 * What one PGM session counts, as a record in the status file. The data thread alone writes it. Its
 * version is odd while the record changes hands, and 0 while it is nobody's.
 */
public final class PgmSessionCounters {
  /** Sessions that there is room for. */
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

  /** Of a record. */
  public static final int BYTES = 128;

  private PgmSessionCounters() {}

  /** A transport session id as people write it: {@code 3329041eba74.13320}. */
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
   * Gives a record to a session, with counters of zero.
   *
   * @param at its address
   * @param slot of the group
   * @param side the fabric that its data come from
   */
  public static void open(long at, int slot, int side, long session) {
    int version = Memory.getInt(at + VERSION_AT) | 1;
    Memory.setIntRelease(at + VERSION_AT, version);
    VarHandle.storeStoreFence();
    Memory.clear(at + SLOT_AT, BYTES - SLOT_AT);
    Memory.setInt(at + SLOT_AT, slot);
    Memory.setInt(at + SIDE_AT, side);
    Memory.setLong(at + SESSION_AT, session);
    /* 0 is nobody's. */
    Memory.setIntRelease(at + VERSION_AT, version == -1 ? 2 : version + 1);
  }

  /** Takes it back. */
  public static void release(long at) {
    Memory.setIntRelease(at + VERSION_AT, 0);
  }

  /** The source's packets came from here, at this time. */
  public static void heard(long at, long sourceHigh, long sourceLow, int lead, long nowNs) {
    Memory.setLong(at + SOURCE_AT, sourceHigh);
    Memory.setLong(at + SOURCE_AT + Long.BYTES, sourceLow);
    Memory.setInt(at + LEAD_AT, lead);
    Memory.setLong(at + HEARD_NS_AT, nowNs);
  }

  /** An original packet came, or a repeat. */
  public static void data(long at, boolean repeat) {
    add(at, repeat ? REPEATS : DATA, 1);
  }

  /** As {@link PgmCounters#skipped}. */
  public static void skipped(long at, int numbers) {
    add(at, SKIPPED, numbers);
  }

  /** As {@link PgmCounters#missed}. */
  public static void missed(long at, boolean byRepeat) {
    add(at, byRepeat ? REPAIRED : LATE, 1);
  }

  /** As {@link PgmCounters#duplicate}. */
  public static void duplicate(long at) {
    add(at, DUPLICATES, 1);
  }

  /** As {@link PgmCounters#stray}. */
  public static void stray(long at) {
    add(at, STRAYS, 1);
  }

  /** As {@link PgmCounters#restarted}. */
  public static void restarted(long at) {
    add(at, RESTARTS, 1);
  }

  /** As {@link PgmCounters#requested}. */
  public static void requested(long at) {
    add(at, REQUESTS, 1);
  }
}
