package io.heddle.bridge.pgm;

import io.heddle.bridge.status.PgmCounters;
import io.heddle.bridge.status.PgmSessionCounters;
import io.heddle.bridge.table.RecentEntries;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;

/**
 * All PGM sessions that a bridge hears, found by group, side and transport session id. Bounded: the
 * least recently heard goes first, and silent ones go by themselves. A session's source address
 * isn't part of its key, since repairers and a source's second address speak for it too. The data
 * thread's, without allocation.
 */
public final class PgmSessions {
  /** For so long a silent session stays. */
  static final long IDLE_NS = 300_000_000_000L;

  private static final int NONE = RecentEntries.NONE;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final RecentEntries sessions;
  private final long[] ids;
  private final int[] slots;
  private final int[] sides;
  private final long[] blocks;
  private final long[] epochs;
  private final HeardNumbers[] numbers;
  private final long records;
  private long epoch;

  /**
   * @param records {@link PgmSessionCounters#MOST_SESSIONS} of them in the status file
   */
  public PgmSessions(Arena arena, long records) {
    this(arena, records, PgmSessionCounters.MOST_SESSIONS);
  }

  /**
   * @param most sessions at a time
   */
  PgmSessions(Arena arena, long records, int most) {
    this.records = records;
    sessions = new RecentEntries(most);
    ids = new long[most];
    slots = new int[most];
    sides = new int[most];
    blocks = new long[most];
    epochs = new long[most];
    numbers = new HeardNumbers[most];
    long bits = Memory.allocate(arena, (long) most * HeardNumbers.BYTES, 64);
    for (int i = 0; i < most; i++) {
      numbers[i] = new HeardNumbers(bits + (long) i * HeardNumbers.BYTES);
    }
  }

  private static int hash(int slot, int side, long id) {
    return (int) ((((long) slot << 1 | side) * MIX ^ id) * MIX >>> 32);
  }

  /** A session's number here, or {@link #NONE}. */
  private int find(int slot, int side, long id) {
    int session = sessions.first(hash(slot, side, id));
    while (session != NONE
        && (ids[session] != id || slots[session] != slot || sides[session] != side)) {
      session = sessions.next(session);
    }
    return session;
  }

  /** Moments are numbered, so that a session knows whether it was listened to all the time. */
  long nextEpoch() {
    return ++epoch;
  }

  /**
   * The source of a session said something: the session is there now.
   *
   * @param block counters of the group and direction
   * @param since the moment from which on its group was listened to without a pause
   */
  int heard(int slot, int side, long id, long block, long since, long nowNs) {
    int session = find(slot, side, id);
    if (session == NONE) {
      session = add(slot, side, id, block, nowNs);
      epochs[session] = since;
    } else {
      sessions.touch(session, nowNs);
    }
    if (epochs[session] != since) {
      numbers[session].begin();
      epochs[session] = since;
    }
    return session;
  }

  /**
   * The record of a session that a receiver speaks of; 0 where it isn't known.
   *
   * @param side the fabric that the receiver is in, mostly the other one than the source
   */
  long recordAsked(int slot, int side, long id) {
    int session = find(slot, 1 - side, id);
    if (session == NONE) {
      session = find(slot, side, id);
    }
    return session == NONE ? 0 : record(session);
  }

  HeardNumbers numbers(int session) {
    return numbers[session];
  }

  /** Where a session is counted. */
  long record(int session) {
    return records + (long) session * PgmSessionCounters.BYTES;
  }

  private int add(int slot, int side, long id, long block, long nowNs) {
    if (sessions.isFull()) {
      PgmCounters.evicted(blocks[sessions.oldest()]);
      remove(sessions.oldest());
    }
    int session = sessions.add(hash(slot, side, id), nowNs);
    ids[session] = id;
    slots[session] = slot;
    sides[session] = side;
    blocks[session] = block;
    numbers[session].begin();
    PgmCounters.sessions(block, 1);
    PgmSessionCounters.open(record(session), slot, side, id);
    return session;
  }

  private void remove(int session) {
    sessions.remove(session);
    PgmCounters.sessions(blocks[session], -1);
    PgmSessionCounters.release(record(session));
  }

  /** Ends the sessions that have been silent for long enough. */
  public void expire(long nowNs) {
    while (sessions.isOldestIdle(nowNs, IDLE_NS)) {
      PgmCounters.aged(blocks[sessions.oldest()]);
      remove(sessions.oldest());
    }
  }

  /** A group ends, or isn't looked at any more. Rare: it goes through all sessions. */
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
