package io.heddle.bridge.pgm;

import io.heddle.bridge.status.PgmCounter;
import io.heddle.bridge.status.PgmSessionRecord;
import io.heddle.bridge.table.LruSlots;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;

/**
 * Table of all observed PGM sessions by group, side and transport session id. Bounded: the least
 * recently active session is evicted first, and idle ones expire. The source address isn't part of
 * the key, since packets of a session also come from repairers and from a source's second address.
 * Used by the data thread only, without allocation.
 */
public final class PgmSessions {
  /** Idle time after which a session expires. */
  static final long IDLE_NS = 300_000_000_000L;

  private static final int NONE = LruSlots.NONE;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final LruSlots sessions;
  private final long[] ids;
  private final int[] slots;
  private final int[] sides;
  private final long[] blocks;
  private final long[] epochs;
  private final SequenceWindow[] window;
  private final long records;
  private long epoch;

  /**
   * @param records address of {@link PgmSessionRecord#MOST_SESSIONS} records in the status file
   */
  public PgmSessions(Arena arena, long records) {
    this(arena, records, PgmSessionRecord.MOST_SESSIONS);
  }

  /**
   * @param most maximum number of sessions
   */
  PgmSessions(Arena arena, long records, int most) {
    this.records = records;
    sessions = new LruSlots(most);
    ids = new long[most];
    slots = new int[most];
    sides = new int[most];
    blocks = new long[most];
    epochs = new long[most];
    window = new SequenceWindow[most];
    long bits = Memory.allocate(arena, (long) most * SequenceWindow.BYTES, 64);
    for (int i = 0; i < most; i++) {
      window[i] = new SequenceWindow(bits + (long) i * SequenceWindow.BYTES);
    }
  }

  private static int hash(int slot, int side, long id) {
    return (int) ((((long) slot << 1 | side) * MIX ^ id) * MIX >>> 32);
  }

  /** Returns the index of a session in this table, or {@link #NONE}. */
  private int find(int slot, int side, long id) {
    int session = sessions.first(hash(slot, side, id));
    while (session != NONE
        && (ids[session] != id || slots[session] != slot || sides[session] != side)) {
      session = sessions.next(session);
    }
    return session;
  }

  /** Returns the next epoch. Epochs show whether a session was observed without a pause. */
  long nextEpoch() {
    return ++epoch;
  }

  /**
   * Records a packet from a session's source, and returns the session's index in this table.
   *
   * @param slot index of the group in the status file
   * @param block address of the counters of the group and direction
   * @param since epoch since which the group has been observed without a pause
   */
  int observe(int slot, int side, long id, long block, long since, long nowNs) {
    int session = find(slot, side, id);
    if (session == NONE) {
      session = add(slot, side, id, block, nowNs);
      epochs[session] = since;
    } else {
      sessions.touch(session, nowNs);
    }
    if (epochs[session] != since) {
      window[session].reset();
      epochs[session] = since;
    }
    return session;
  }

  /**
   * Returns the address of the record of the session that a receiver's packet belongs to; 0 if the
   * session isn't known.
   *
   * @param side the receiver's fabric, which usually isn't the source's
   */
  long recordForReceiver(int slot, int side, long id) {
    int session = find(slot, 1 - side, id);
    if (session == NONE) {
      session = find(slot, side, id);
    }
    return session == NONE ? 0 : record(session);
  }

  SequenceWindow window(int session) {
    return window[session];
  }

  /** Returns the address of a session's counters. */
  long record(int session) {
    return records + (long) session * PgmSessionRecord.BYTES;
  }

  private int add(int slot, int side, long id, long block, long nowNs) {
    if (sessions.isFull()) {
      PgmCounter.EVICTED.add(blocks[sessions.oldest()], 1);
      remove(sessions.oldest());
    }
    int session = sessions.add(hash(slot, side, id), nowNs);
    ids[session] = id;
    slots[session] = slot;
    sides[session] = side;
    blocks[session] = block;
    window[session].reset();
    PgmCounter.SESSIONS.add(block, 1);
    PgmSessionRecord.open(record(session), slot, side, id);
    return session;
  }

  private void remove(int session) {
    sessions.remove(session);
    PgmCounter.SESSIONS.add(blocks[session], -1);
    PgmSessionRecord.release(record(session));
  }

  /** Removes the sessions that have been idle for {@link #IDLE_NS}. */
  public void expire(long nowNs) {
    while (sessions.isOldestIdle(nowNs, IDLE_NS)) {
      PgmCounter.AGED.add(blocks[sessions.oldest()], 1);
      remove(sessions.oldest());
    }
  }

  /**
   * Removes a group's sessions, when the group is removed or no longer observed. Rare: it scans all
   * sessions.
   */
  public void forget(int slot) {
    int session = sessions.newest();
    while (session != NONE) {
      int next = sessions.older(session);
      if (slots[session] == slot) {
        remove(session);
      }
      session = next;
    }
  }

  int size() {
    return sessions.size();
  }
}
