package io.heddle.bridge.pgm;

import io.heddle.bridge.pgm.HeardNumbers.Heard;
import io.heddle.bridge.status.PgmCounters;
import io.heddle.bridge.status.PgmSessionCounters;
import org.jspecify.annotations.Nullable;

/**
 * Reads the PGM packets of one group as they come to the bridge, and counts them by session. What
 * the bridge itself drops behind that is counted by its reason. The data thread's, without
 * allocation.
 */
public final class PgmObserver {
  private final PgmSessions sessions;
  private final int slot;
  private final long[] counters;
  /* By side: since when it has listened without a pause. */
  private final long[] since = new long[2];
  private final boolean[] pausing = {true, true};

  /**
   * @param slot of the group in the status file
   * @param counters of packets from fabric a and b
   */
  public PgmObserver(PgmSessions sessions, int slot, long[] counters) {
    this.sessions = sessions;
    this.slot = slot;
    this.counters = counters.clone();
  }

  /**
   * A packet came and will be forwarded.
   *
   * @param side the fabric that it came from
   * @param payload its first byte behind the headers of RoCE
   * @param sourceHigh of its sender's address
   */
  public void take(int side, long payload, int bytes, long sourceHigh, long sourceLow, long nowNs) {
    if (pausing[side]) {
      pausing[side] = false;
      since[side] = sessions.nextEpoch();
    }
    long block = counters[side];
    PgmType type = PgmFormat.typeOf(payload, bytes);
    if (type == null) {
      PgmCounters.malformed(block);
      return;
    }
    PgmCounters.came(block);
    long id = PgmFormat.session(payload, type);
    if (!type.isFromSource()) {
      hearReceiver(side, type, id);
      return;
    }
    int session = sessions.heard(slot, side, id, block, since[side], nowNs);
    long record = sessions.record(session);
    HeardNumbers numbers = sessions.numbers(session);
    if (type.isData()) {
      hearData(type, payload, numbers, block, record);
    } else if (type == PgmType.SPM) {
      numbers.hearLead(PgmFormat.lead(payload));
      count(null, false, numbers.skipped(), block, record);
    } else if (type == PgmType.NCF) {
      PgmCounters.confirmed(block);
    }
    PgmSessionCounters.heard(record, sourceHigh, sourceLow, numbers.lead(), nowNs);
  }

  private void hearReceiver(int side, PgmType type, long id) {
    if (type == PgmType.NAK || type == PgmType.NNAK) {
      PgmCounters.requested(counters[side]);
      long record = sessions.recordAsked(slot, side, id);
      if (record != 0) {
        PgmSessionCounters.requested(record);
      }
    }
  }

  private static void hearData(
      PgmType type, long payload, HeardNumbers numbers, long block, long record) {
    if (PgmFormat.isParity(payload)) {
      PgmCounters.parity(block);
      return;
    }
    boolean repeat = type == PgmType.RDATA;
    if (repeat) {
      PgmCounters.repeat(block);
    } else {
      PgmCounters.data(block);
    }
    PgmSessionCounters.data(record, repeat);
    int number = PgmFormat.number(payload);
    Heard heard = repeat ? numbers.hearRepeat(number) : numbers.hear(number);
    count(heard, repeat, numbers.skipped(), block, record);
  }

  private static void count(
      @Nullable Heard heard, boolean repeat, int skipped, long block, long record) {
    if (skipped > 0) {
      PgmCounters.skipped(block, skipped);
      PgmSessionCounters.skipped(record, skipped);
    }
    if (heard == Heard.MISSED) {
      PgmCounters.missed(block, repeat);
      PgmSessionCounters.missed(record, repeat);
    } else if (heard == Heard.AGAIN && !repeat) {
      PgmCounters.duplicate(block);
      PgmSessionCounters.duplicate(record);
    } else if (heard == Heard.STRAY) {
      PgmCounters.stray(block);
      PgmSessionCounters.stray(record);
    } else if (heard == Heard.ANEW) {
      PgmCounters.restarted(block);
      PgmSessionCounters.restarted(record);
    }
  }

  /** Packets from this side came that weren't looked at: another bridge forwards them. */
  public void pause(int side) {
    pausing[side] = true;
  }
}
