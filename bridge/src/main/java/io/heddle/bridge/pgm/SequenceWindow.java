package io.heddle.bridge.pgm;

import io.heddle.platform.Memory;

/**
 * Window of a session's newest sequence numbers: a ring of bits that records which have arrived.
 * Numbers have 32 bits and wrap to 0, so they are compared by the sign of their difference, as in
 * RFC 1982. Used by the data thread only.
 *
 * <p>A single number far ahead of the window or behind it changes nothing: otherwise a damaged or
 * foreign packet would count as the loss of millions of packets. Several such numbers in sequence
 * mean that the source has restarted.
 */
final class SequenceWindow {
  /** Size of the window: duplicates of older numbers can't be detected. */
  static final int WINDOW = 1 << 15;

  static final int BYTES = WINDOW / Byte.SIZE;

  /** Maximum distance of a number ahead of the newest one. */
  static final int MOST_AHEAD = 1 << 24;

  /** Consecutive stray numbers that mean that the source has restarted. */
  static final int RUN = 8;

  private static final int MASK = WINDOW - 1;

  /** Classification of a received number. */
  enum Arrival {
    /** First number of all, or after a pause of the observation. */
    FIRST,

    /** Number newer than all others; {@link #skipped} numbers before it are missing. */
    AHEAD,

    /** Missing number that has now arrived. */
    FILLS_GAP,

    /** Number that has arrived before. */
    DUPLICATE,

    /** Number outside the window. */
    STRAY,

    /** First number of a restarted source. */
    RESTARTED
  }

  private final long bits;
  private boolean started;
  private int lead;
  /* How many numbers up to the lead are known as arrived or missing; WINDOW at most. */
  private int known;
  private int skipped;
  private int stray;
  private int run;

  /**
   * @param bits address of {@link #BYTES} bytes
   */
  SequenceWindow(long bits) {
    this.bits = bits;
  }

  /** Resets the window: the next number is the first. */
  void reset() {
    started = false;
    lead = 0;
    run = 0;
    skipped = 0;
  }

  /** Returns the newest number; 0 before the first one. */
  int lead() {
    return lead;
  }

  /** Returns how many numbers the last call has found to be missing. */
  int skipped() {
    return skipped;
  }

  /** Records the number of an original packet. */
  Arrival receive(int number) {
    skipped = 0;
    if (!started) {
      resetTo(number, 1);
      return Arrival.FIRST;
    }
    int distance = number - lead;
    if (distance > 0 && distance <= MOST_AHEAD) {
      run = 0;
      advance(distance);
      set(number);
      skipped = distance - 1;
      return Arrival.AHEAD;
    }
    if (isKnown(distance)) {
      return mark(number);
    }
    run = run > 0 && number == stray + 1 ? run + 1 : 1;
    stray = number;
    if (run < RUN) {
      return Arrival.STRAY;
    }
    resetTo(number, 1);
    return Arrival.RESTARTED;
  }

  /**
   * Records the number of a repair packet. A number ahead of the window means that its original is
   * missing; before the first number nothing is known to be missing.
   */
  Arrival receiveRepair(int number) {
    skipped = 0;
    if (!started) {
      return Arrival.DUPLICATE;
    }
    int distance = number - lead;
    if (distance > 0 && distance <= MOST_AHEAD) {
      advance(distance);
      set(number);
      skipped = distance;
      return Arrival.FILLS_GAP;
    }
    return isKnown(distance) ? mark(number) : Arrival.STRAY;
  }

  /** Records the newest number that the source has announced. */
  void receiveLead(int number) {
    skipped = 0;
    if (!started) {
      resetTo(number, 0);
      return;
    }
    int distance = number - lead;
    if (distance > 0 && distance <= MOST_AHEAD) {
      advance(distance);
      skipped = distance;
    }
  }

  private void resetTo(int number, int knownOnes) {
    started = true;
    run = 0;
    lead = number;
    known = knownOnes;
    set(number);
  }

  private boolean isKnown(int distance) {
    return distance <= 0 && distance > -known;
  }

  private Arrival mark(int number) {
    if (get(number)) {
      return Arrival.DUPLICATE;
    }
    set(number);
    return Arrival.FILLS_GAP;
  }

  /* Advances the window over numbers that are all missing. */
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
