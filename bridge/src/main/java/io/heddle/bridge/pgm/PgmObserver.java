package io.heddle.bridge.pgm;

import io.heddle.bridge.pgm.SequenceWindow.Arrival;
import io.heddle.bridge.status.PgmCounter;
import io.heddle.bridge.status.PgmSessionRecord;
import org.jspecify.annotations.Nullable;

/**
 * Observer of one group's PGM packets on arrival, with counters by session. Packets that the bridge
 * drops afterwards are also counted under their drop reason. Used by the data thread only, without
 * allocation.
 */
public final class PgmObserver {
  private final PgmSessions sessions;
  private final int slot;
  private final long[] counters;
  /* Epoch since which packets from each fabric have been observed without a pause. */
  private final long[] since = new long[2];
  private final boolean[] pausing = {true, true};

  /**
   * @param slot index of the group in the status file
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   */
  public PgmObserver(PgmSessions sessions, int slot, long[] counters) {
    this.sessions = sessions;
    this.slot = slot;
    this.counters = counters.clone();
  }

  /**
   * Observes a packet before it is forwarded.
   *
   * @param side fabric that the packet came from, 0 for a
   * @param payload address of the packet's first byte after the headers of RoCE
   * @param sourceHigh upper half of the sender's address
   */
  public void observe(
      int side, long payload, int bytes, long sourceHigh, long sourceLow, long nowNs) {
    if (pausing[side]) {
      pausing[side] = false;
      since[side] = sessions.nextEpoch();
    }
    long block = counters[side];
    PgmType type = PgmFormat.typeOf(payload, bytes);
    if (type == null) {
      PgmCounter.MALFORMED.add(block, 1);
      return;
    }
    PgmCounter.PACKETS.add(block, 1);
    long id = PgmFormat.session(payload, type);
    if (!type.isFromSource()) {
      observeReceiver(side, type, id);
      return;
    }
    int session = sessions.observe(slot, side, id, block, since[side], nowNs);
    long record = sessions.record(session);
    SequenceWindow window = sessions.window(session);
    if (type.isData()) {
      observeData(type, payload, window, block, record);
    } else if (type == PgmType.SPM) {
      window.receiveLead(PgmFormat.lead(payload));
      countArrival(null, false, window.skipped(), block, record);
    } else if (type == PgmType.NCF) {
      PgmCounter.CONFIRMATIONS.add(block, 1);
    }
    PgmSessionRecord.heard(record, sourceHigh, sourceLow, window.lead(), nowNs);
  }

  private void observeReceiver(int side, PgmType type, long id) {
    if (type == PgmType.NAK || type == PgmType.NNAK) {
      PgmCounter.REQUESTS.add(counters[side], 1);
      long record = sessions.recordForReceiver(slot, side, id);
      if (record != 0) {
        PgmSessionRecord.add(record, PgmCounter.REQUESTS, 1);
      }
    }
  }

  private static void observeData(
      PgmType type, long payload, SequenceWindow window, long block, long record) {
    if (PgmFormat.isParity(payload)) {
      PgmCounter.PARITY.add(block, 1);
      return;
    }
    boolean repeat = type == PgmType.RDATA;
    count(repeat ? PgmCounter.REPEATS : PgmCounter.DATA, 1, block, record);
    int number = PgmFormat.number(payload);
    Arrival arrival = repeat ? window.receiveRepair(number) : window.receive(number);
    countArrival(arrival, repeat, window.skipped(), block, record);
  }

  private static void countArrival(
      @Nullable Arrival arrival, boolean repeat, int skipped, long block, long record) {
    if (skipped > 0) {
      count(PgmCounter.SKIPPED, skipped, block, record);
    }
    if (arrival == Arrival.FILLS_GAP) {
      count(repeat ? PgmCounter.REPAIRED : PgmCounter.LATE, 1, block, record);
    } else if (arrival == Arrival.DUPLICATE && !repeat) {
      count(PgmCounter.DUPLICATES, 1, block, record);
    } else if (arrival == Arrival.STRAY) {
      count(PgmCounter.STRAYS, 1, block, record);
    } else if (arrival == Arrival.RESTARTED) {
      count(PgmCounter.RESTARTS, 1, block, record);
    }
  }

  private static void count(PgmCounter counter, long more, long block, long record) {
    counter.add(block, more);
    PgmSessionRecord.add(record, counter, more);
  }

  /** Pauses the observation of packets from a fabric, while this bridge doesn't forward them. */
  public void pause(int side) {
    pausing[side] = true;
  }
}
