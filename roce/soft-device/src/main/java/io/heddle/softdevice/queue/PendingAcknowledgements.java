package io.heddle.softdevice.queue;

import io.heddle.softdevice.io.PeerLink;
import io.heddle.softdevice.io.SendStage;

/**
 * Acknowledgements that wait some rounds of progress for a packet to carry them: a later packet of
 * their own queue pair, or a bundle on the same path. Each device has one of these tables, used
 * under the progress lock.
 */
final class PendingAcknowledgements {
  private final QueuePairTable queuePairs;
  private final long[] waiting;
  private final long[] untilRound;
  private int usedWords;
  private boolean isAnyWaiting;
  private long rounds;

  PendingAcknowledgements(QueuePairTable queuePairs) {
    this.queuePairs = queuePairs;
    waiting = new long[QueuePairTable.SLOTS / 64];
    untilRound = new long[QueuePairTable.SLOTS];
  }

  /** Lets a queue pair's acknowledgement wait for this number of rounds after the current one. */
  void begin(int slot, int count) {
    waiting[slot >> 6] |= 1L << slot;
    untilRound[slot] = rounds + 1 + count;
    usedWords = Math.max(usedWords, (slot >> 6) + 1);
    isAnyWaiting = true;
  }

  /**
   * Ends a round: expired acknowledgements are sent next.
   *
   * @param callersIdle whether no caller polls; no packet can then come to carry an
   *     acknowledgement, so all expire
   */
  void endRound(boolean callersIdle) {
    rounds++;
    if (!isAnyWaiting) {
      return;
    }
    isAnyWaiting = false;
    for (int word = 0; word < usedWords; word++) {
      for (long left = waiting[word]; left != 0; left &= left - 1) {
        int slot = word * 64 + Long.numberOfTrailingZeros(left);
        SoftQueuePair qp = queuePairs.at(slot);
        if (qp != null && !callersIdle && untilRound[slot] - rounds > 0) {
          isAnyWaiting = true;
          continue;
        }
        waiting[word] &= ~(1L << slot);
        if (qp != null) {
          qp.endAcknowledgementWait();
        }
      }
    }
  }

  /** Adds to the pending bundle, if any, all waiting acknowledgements with the bundle's path. */
  void addToBundle(SendStage sendStage, long nowNs) {
    PeerLink link = isAnyWaiting ? sendStage.pendingLink() : null;
    if (link == null) {
      return;
    }
    for (int word = 0; word < usedWords; word++) {
      for (long left = waiting[word]; left != 0; left &= left - 1) {
        int slot = word * 64 + Long.numberOfTrailingZeros(left);
        SoftQueuePair qp = queuePairs.at(slot);
        if (qp != null && qp.hasAnswerFor(link)) {
          waiting[word] &= ~(1L << slot);
          qp.acknowledgeWithPacket(nowNs);
        }
      }
    }
  }
}
