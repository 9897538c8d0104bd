package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.PsnBits;

/**
 * Set of the packets that arrived after a gap, until the packets before them have arrived. Used
 * under the progress lock.
 */
final class EarlyPackets {
  private final PsnBits arrived = new PsnBits();
  private long highest;

  /** Empties the set; no number before this one can enter it. */
  void start(long expected) {
    arrived.clearAll();
    highest = expected - 1;
  }

  /** Returns whether the set has this number, less than {@link PsnBits#SIZE} after the expected. */
  boolean has(long psn) {
    return arrived.get(psn);
  }

  void add(long psn) {
    arrived.set(psn);
    highest = Math.max(highest, psn);
  }

  void remove(long psn) {
    arrived.clear(psn);
  }

  /** Returns whether a packet has arrived after a gap that begins at the expected number. */
  boolean isAnyAfter(long expected) {
    return highest >= expected;
  }

  /** Writes the bitmap from the expected number on. Returns its length in bytes. */
  int writeBitmap(long at, long expected) {
    int words = (int) ((highest >> 6) - (expected >> 6)) + 1;
    for (int i = 0; i < words; i++) {
      long from = Math.max(expected, (expected & ~63L) + 64L * i);
      long bits = arrived.word(from) & PsnBits.mask(from, highest + 1);
      Memory.ALL.set(Memory.NETWORK_LONG, at + 8L * i, bits);
    }
    return 8 * words;
  }
}
