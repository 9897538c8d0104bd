package io.heddle.bridge.status;

import io.heddle.platform.Memory;
import java.lang.invoke.VarHandle;
import java.util.Locale;

/**
 * Record of one PGM session in the status file, with its counters. Written by the data thread only.
 * The record's version is odd while the record is reassigned, and 0 while it is free.
 */
public final class PgmSessionRecord {
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

  /** Length of a record. */
  public static final int BYTES = 128;

  private PgmSessionRecord() {}

  /** Returns a transport session id in its usual notation: {@code 3329041eba74.13320}. */
  public static String name(long session) {
    return String.format(Locale.ROOT, "%012x.%s", session >>> Short.SIZE, session & 0xffff);
  }

  static long get(long at, PgmCounter counter) {
    return Memory.getLong(address(at, counter));
  }

  private static long address(long at, PgmCounter counter) {
    return at + COUNTERS_AT + (long) (counter.ordinal() - PgmCounter.DATA.ordinal()) * Long.BYTES;
  }

  /** Counts in a session. */
  public static void add(long at, PgmCounter counter, long more) {
    long counted = address(at, counter);
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
}
