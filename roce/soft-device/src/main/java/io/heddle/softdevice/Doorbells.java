package io.heddle.softdevice;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One bit a queue pair: something was posted. Rung by posting threads, answered by the lock holder.
 *
 * <p>Pairing: {@link #ring} is a full fence after the post's release of its index; {@link #take}
 * empties a word and then the queue's index is read, so a post that {@code take} missed rings
 * again.
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

  boolean anyIn(int usedWords) {
    for (int i = 0; i < usedWords; i++) {
      if ((long) WORD.getVolatile(words, i) != 0) {
        return true;
      }
    }
    return false;
  }

  /** The bells rung in this word since the last call. */
  long take(int word) {
    return (long) WORD.getOpaque(words, word) == 0 ? 0 : (long) WORD.getAndSet(words, word, 0L);
  }
}
