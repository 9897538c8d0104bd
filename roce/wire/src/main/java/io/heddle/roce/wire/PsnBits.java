package io.heddle.roce.wire;

import java.util.Arrays;

/**
 * Bit set over a sliding window of {@link #SIZE} packet sequence numbers.
 *
 * <p>Sequence numbers are {@code long}; the wire carries the low 24 bits. Words begin at multiples
 * of 64, thus at the same numbers at both ends, and bitmaps are transmitted as whole words.
 */
public final class PsnBits {
  /**
   * Size of the window. It bounds the packets that a responder accepts after a gap, and those that
   * a requester has outstanding.
   */
  public static final int SIZE = 2048;

  /** Number of possible bit lengths of a distance within the window, 0 included. */
  public static final int BIT_LENGTHS = Integer.numberOfTrailingZeros(SIZE) + 1;

  private static final int WORD_MASK = SIZE / 64 - 1;

  private final long[] words = new long[SIZE / 64];

  private static int wordIndex(long psn) {
    return (int) (psn >> 6) & WORD_MASK;
  }

  public boolean get(long psn) {
    return (words[wordIndex(psn)] & 1L << psn) != 0;
  }

  public void set(long psn) {
    words[wordIndex(psn)] |= 1L << psn;
  }

  public void clear(long psn) {
    words[wordIndex(psn)] &= ~(1L << psn);
  }

  /**
   * Returns the 64-bit word that contains this number: bit {@code i} is number {@code (psn & ~63) +
   * i}.
   */
  public long word(long psn) {
    return words[wordIndex(psn)];
  }

  public void setWord(long psn, long value) {
    words[wordIndex(psn)] = value;
  }

  public void clearAll() {
    Arrays.fill(words, 0);
  }

  /**
   * Clears the numbers in {@code [from, to)}, at most a window, and returns how many bits were set.
   */
  public int clearRange(long from, long to) {
    int cleared = 0;
    for (long psn = from; psn < to; psn = (psn | 63) + 1) {
      long mask = mask(psn, to);
      cleared += Long.bitCount(words[wordIndex(psn)] & mask);
      words[wordIndex(psn)] &= ~mask;
    }
    return cleared;
  }

  /** Returns a mask of the bits of {@code psn}'s word in {@code [psn, to)}. */
  public static long mask(long psn, long to) {
    long mask = -1L << psn;
    long wordEnd = (psn | 63) + 1;
    return to < wordEnd ? mask & ~(-1L << to) : mask;
  }
}
