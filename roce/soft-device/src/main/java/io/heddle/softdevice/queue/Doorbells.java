package io.heddle.softdevice.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Doorbell bits for posted requests, one per queue pair. Posting threads set the bits; the holder
 * of the progress lock takes and clears them.
 *
 * <p>Pairing: {@link #ring} is a full fence after the post's release of its index; {@link #take}
 * clears a word before the queue's index is read, so a post that {@code take} missed has set its
 * bit again.
 */
final class Doorbells {
  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] words;

  Doorbells(int size) {
    words = new long[(size + 63) / 64];
  }

  void ring(int slot) {
    long bit = 1L << slot;
    WORD.getAndBitwiseOr(words, slot >> 6, bit);
  }

  boolean isAnyRung(int usedWords) {
    for (int i = 0; i < usedWords; i++) {
      if ((long) WORD.getVolatile(words, i) != 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns and clears the bits of this word. */
  long take(int word) {
    return (long) WORD.getOpaque(words, word) == 0 ? 0 : (long) WORD.getAndSet(words, word, 0L);
  }
}
