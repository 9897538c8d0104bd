package io.heddle.bridge.pgm;

import io.heddle.platform.Memory;

/**
 * Which of a session's newest numbers have come: one bit each, in a ring. Numbers have 32 bits and
 * go on from 0 after the last, so they are compared by the sign of their difference, as in RFC
 * 1982. The data thread's.
 *
 * <p>A number far ahead, or behind the ring, moves nothing by itself: a damaged or foreign packet
 * would make a loss of millions. Some of these in a row are a source that began anew.
 */
final class HeardNumbers {
  /** So many numbers are remembered: the repeat of an older one isn't known to be the first. */
  static final int WINDOW = 1 << 15;

  static final int BYTES = WINDOW / Byte.SIZE;

  /** So far ahead a number may be of the one before it. */
  static final int MOST_AHEAD = 1 << 24;

  /** So many strange numbers in a row are a source that began anew. */
  static final int RUN = 8;

  private static final int MASK = WINDOW - 1;

  /** What a number turned out to be. */
  enum Heard {
    /** The first of all, or of those after a pause in listening. */
    FIRST,

    /** Ahead of all others, {@link #skipped} having been left out. */
    AHEAD,

    /** One of those that were left out. */
    MISSED,

    /** It has come before. */
    AGAIN,

    /** Far from all that came. */
    STRAY,

    /** The source has begun anew, and this is the new first one. */
    ANEW
  }

  private final long bits;
  private boolean begun;
  private int lead;
  /* Numbers up to the lead that are known, WINDOW at most. */
  private int known;
  private int skipped;
  private int stray;
  private int run;

  /**
   * @param bits the address of {@link #BYTES}
   */
  HeardNumbers(long bits) {
    this.bits = bits;
  }

  /** Forgets everything: the next number is the first. */
  void begin() {
    begun = false;
    lead = 0;
    run = 0;
    skipped = 0;
  }

  /** The newest number; 0 before the first. */
  int lead() {
    return lead;
  }

  /** How many the last call found left out. */
  int skipped() {
    return skipped;
  }

  /** A number came in an original packet. */
  Heard hear(int number) {
    skipped = 0;
    if (!begun) {
      beginAt(number, 1);
      return Heard.FIRST;
    }
    int distance = number - lead;
    if (distance > 0 && distance <= MOST_AHEAD) {
      run = 0;
      advance(distance);
      set(number);
      skipped = distance - 1;
      return Heard.AHEAD;
    }
    if (isKnown(distance)) {
      return take(number);
    }
    run = run > 0 && number == stray + 1 ? run + 1 : 1;
    stray = number;
    if (run < RUN) {
      return Heard.STRAY;
    }
    beginAt(number, 1);
    return Heard.ANEW;
  }

  /**
   * A number came in a repeat. One that is ahead was left out by its original; before the first
   * nothing is known to be missing.
   */
  Heard hearRepeat(int number) {
    skipped = 0;
    if (!begun) {
      return Heard.AGAIN;
    }
    int distance = number - lead;
    if (distance > 0 && distance <= MOST_AHEAD) {
      advance(distance);
      set(number);
      skipped = distance;
      return Heard.MISSED;
    }
    return isKnown(distance) ? take(number) : Heard.STRAY;
  }

  /** The source says which number is its newest. */
  void hearLead(int number) {
    skipped = 0;
    if (!begun) {
      beginAt(number, 0);
      return;
    }
    int distance = number - lead;
    if (distance > 0 && distance <= MOST_AHEAD) {
      advance(distance);
      skipped = distance;
    }
  }

  private void beginAt(int number, int knownOnes) {
    begun = true;
    run = 0;
    lead = number;
    known = knownOnes;
    set(number);
  }

  private boolean isKnown(int distance) {
    return distance <= 0 && distance > -known;
  }

  private Heard take(int number) {
    if (get(number)) {
      return Heard.AGAIN;
    }
    set(number);
    return Heard.MISSED;
  }

  /* None of the numbers on the way has come yet. */
  private void advance(int distance) {
    if (distance >= WINDOW) {
      Memory.clear(bits, BYTES);
    } else {
      clear(lead + 1, distance);
    }
    lead += distance;
    known = Math.min(WINDOW, known + distance);
  }

  private void clear(int from, int count) {
    int number = from;
    int left = count;
    while (left > 0) {
      int bit = number & Long.SIZE - 1;
      int here = Math.min(left, Long.SIZE - bit);
      long mask = (here == Long.SIZE ? -1L : (1L << here) - 1) << bit;
      long word = word(number);
      Memory.setLong(word, Memory.getLong(word) & ~mask);
      number += here;
      left -= here;
    }
  }

  private long word(int number) {
    return bits + (long) ((number & MASK) >>> 6) * Long.BYTES;
  }

  private boolean get(int number) {
    return (Memory.getLong(word(number)) >>> number & 1) != 0;
  }

  private void set(int number) {
    long word = word(number);
    Memory.setLong(word, Memory.getLong(word) | 1L << number);
  }
}
