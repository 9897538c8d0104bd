package io.heddle.softdevice;

import org.jspecify.annotations.Nullable;

/**
 * Acknowledgements that wait, for some rounds of progress, for a packet to leave with: a later one
 * of their own queue pair carries them, or any that leaves for the same host is their company. One
 * per device; under the progress lock.
 */
final class PendingAcknowledgements {
  private final @Nullable SoftQueuePair[] queuePairs;
  private final long[] waiting;
  private final long[] untilRound;
  private int usedWords;
  private boolean any;
  private long rounds;

  /**
   * @param queuePairs by slot; the device's own table
   */
  PendingAcknowledgements(@Nullable SoftQueuePair[] queuePairs) {
    this.queuePairs = queuePairs;
    waiting = new long[queuePairs.length / 64];
    untilRound = new long[queuePairs.length];
  }

  /** The one of this queue pair waits, not counting the round in which its packet came. */
  void begin(int slot, int count) {
    waiting[slot >> 6] |= 1L << slot;
    untilRound[slot] = rounds + 1 + count;
    usedWords = Math.max(usedWords, (slot >> 6) + 1);
    any = true;
  }

  /**
   * Another round: those whose wait is over leave next.
   *
   * @param callersIdle whether nobody makes rounds who would bring a packet, so that all are over
   */
  void endRound(boolean callersIdle) {
    rounds++;
    if (!any) {
      return;
    }
    any = false;
    for (int word = 0; word < usedWords; word++) {
      for (long left = waiting[word]; left != 0; left &= left - 1) {
        int slot = word * 64 + Long.numberOfTrailingZeros(left);
        SoftQueuePair qp = queuePairs[slot];
        if (qp != null && !callersIdle && untilRound[slot] - rounds > 0) {
          any = true;
          continue;
        }
        waiting[word] &= ~(1L << slot);
        if (qp != null) {
          qp.waitIsOver();
        }
      }
    }
  }

  /** Those that lead where a bundle is about to leave leave in it. */
  void join(Departures departures, long nowNs) {
    PeerLink way = any ? departures.way() : null;
    if (way == null) {
      return;
    }
    for (int word = 0; word < usedWords; word++) {
      for (long left = waiting[word]; left != 0; left &= left - 1) {
        int slot = word * 64 + Long.numberOfTrailingZeros(left);
        SoftQueuePair qp = queuePairs[slot];
        if (qp != null && qp.hasAnswerFor(way)) {
          waiting[word] &= ~(1L << slot);
          qp.acknowledgeWithPacket(nowNs);
        }
      }
    }
  }
}
