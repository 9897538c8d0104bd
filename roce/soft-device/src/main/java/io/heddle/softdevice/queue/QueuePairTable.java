package io.heddle.softdevice.queue;

import org.jspecify.annotations.Nullable;

/**
 * Table of a device's queue pairs by slot, which is the low bits of a queue pair's number. The
 * control path changes it under the progress lock.
 */
final class QueuePairTable {
  /** Number of queue pairs in the device attributes. */
  static final int ADVERTISED = 4096;

  /**
   * Number of slots: twice the number in the attributes, since replacements are created before the
   * old queue pairs are closed.
   */
  static final int SLOTS = 2 * ADVERTISED;

  private final @Nullable SoftQueuePair[] queuePairs = new SoftQueuePair[SLOTS];
  private volatile int usedWords;
  private int count;

  static int slotOf(int number) {
    return number & SLOTS - 1;
  }

  /** Returns the number of words of 64 slots up to the last slot ever used. Any thread. */
  int usedWords() {
    return usedWords;
  }

  int count() {
    return count;
  }

  /** Returns the queue pair in this slot, or null if the slot is free. */
  @Nullable SoftQueuePair at(int slot) {
    return queuePairs[slot];
  }

  /** Returns the queue pair with this number, or null if there is none. */
  @Nullable SoftQueuePair find(int number) {
    SoftQueuePair qp = queuePairs[slotOf(number)];
    return qp != null && qp.number() == number ? qp : null;
  }

  /** Returns the first free slot from this one on, or −1 if there is none. */
  int freeSlot(int from) {
    for (int i = 0; i < SLOTS; i++) {
      int slot = slotOf(from + i);
      if (queuePairs[slot] == null) {
        return slot;
      }
    }
    return -1;
  }

  void enter(int slot, SoftQueuePair qp) {
    queuePairs[slot] = qp;
    count++;
    usedWords = Math.max(usedWords, (slot >> 6) + 1);
  }

  void remove(int slot) {
    queuePairs[slot] = null;
    count--;
  }

  /** Moves every queue pair that uses this overrun completion queue to ERROR. */
  void failUsersOf(SoftCompletionQueue cq) {
    for (SoftQueuePair qp : queuePairs) {
      if (qp != null && qp.usesQueue(cq)) {
        qp.enterError();
      }
    }
  }
}
