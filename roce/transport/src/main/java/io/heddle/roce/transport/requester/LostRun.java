package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.TransmitRing;

/**
 * Next retransmission: the first run of lost packets within one slot of the ring, or a lost READ.
 * Used under the progress lock.
 */
final class LostRun {
  private final TransmitRing ring;
  private final Outstanding outstanding;
  private long slot;
  private int from;
  private int to;

  LostRun(TransmitRing ring, Outstanding outstanding) {
    this.ring = ring;
    this.outstanding = outstanding;
  }

  /**
   * Searches for the first lost run, and returns whether there is one. A READ request in the ring
   * counts as lost if {@code readIsLost}.
   */
  boolean find(boolean readIsLost) {
    for (slot = ring.head(); slot < ring.tail(); slot++) {
      if (ring.isRead(slot) ? readIsLost : findIn(ring.firstPsn(slot), ring.packets(slot))) {
        return true;
      }
    }
    return false;
  }

  private boolean findIn(long first, int packets) {
    for (from = 0; from < packets; from++) {
      if (outstanding.isLost(first + from)) {
        to = from + 1;
        while (to < packets && outstanding.isLost(first + to)) {
          to++;
        }
        return true;
      }
    }
    return false;
  }

  boolean isRead() {
    return ring.isRead(slot);
  }

  long slot() {
    return slot;
  }

  /** Returns the index, in the slot, of the run's first packet. */
  int from() {
    return from;
  }

  /** Returns the index, in the slot, after the run's last packet. */
  int to() {
    return to;
  }
}
