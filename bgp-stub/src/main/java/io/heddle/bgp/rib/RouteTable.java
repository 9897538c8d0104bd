package io.heddle.bgp.rib;

import io.heddle.bgp.wire.Prefix;
import java.util.Arrays;

/**
 * Prefixes with a number each, in primitive arrays: 21 bytes a slot and no object, for tables of
 * 100,000 routes and more. Open addressing with linear probing, at most four fifths full; it grows
 * by half, since old and new lie in memory together while it does.
 */
final class RouteTable {
  /** No number; the numbers themselves aren't negative. */
  static final int NONE = -1;

  /** What {@link #forEach} hands out. The table must not be changed by it. */
  @FunctionalInterface
  interface Visitor {
    void visit(long high, long low, int length, int value);
  }

  private static final int FIRST_SLOTS = 64;

  private long[] words = new long[2 * FIRST_SLOTS];
  private byte[] lengths = new byte[FIRST_SLOTS];
  private int[] values = empty(FIRST_SLOTS);
  private final int[] routesOfLength = new int[Prefix.MAX_LENGTH + 1];
  private int size;

  private static int[] empty(int slots) {
    int[] values = new int[slots];
    Arrays.fill(values, NONE);
    return values;
  }

  int size() {
    return size;
  }

  /** Routes with this prefix length. */
  int routesOfLength(int length) {
    return routesOfLength[length];
  }

  int get(long high, long low, int length) {
    return values[find(high, low, length)];
  }

  /** Returns the number that was there. */
  int put(long high, long low, int length, int value) {
    int slot = find(high, low, length);
    int before = values[slot];
    if (before == NONE) {
      if (5 * (size + 1) > 4 * values.length) {
        grow();
        slot = find(high, low, length);
      }
      words[2 * slot] = high;
      words[2 * slot + 1] = low;
      lengths[slot] = (byte) length;
      size++;
      routesOfLength[length]++;
    }
    values[slot] = value;
    return before;
  }

  /** Returns the number that was there. */
  int remove(long high, long low, int length) {
    int gap = find(high, low, length);
    int before = values[gap];
    if (before == NONE) {
      return NONE;
    }
    size--;
    routesOfLength[length]--;
    for (int index = next(gap); values[index] != NONE; index = next(index)) {
      int home = home(words[2 * index], words[2 * index + 1], lengths[index] & 0xff);
      if (distance(home, index) >= distance(gap, index)) {
        words[2 * gap] = words[2 * index];
        words[2 * gap + 1] = words[2 * index + 1];
        lengths[gap] = lengths[index];
        values[gap] = values[index];
        gap = index;
      }
    }
    values[gap] = NONE;
    return before;
  }

  void forEach(Visitor visitor) {
    for (int slot = 0; slot < values.length; slot++) {
      if (values[slot] != NONE) {
        visitor.visit(words[2 * slot], words[2 * slot + 1], lengths[slot] & 0xff, values[slot]);
      }
    }
  }

  /** Sets these bits in every number. */
  void mark(int bits) {
    for (int slot = 0; slot < values.length; slot++) {
      if (values[slot] != NONE) {
        values[slot] |= bits;
      }
    }
  }

  void clear() {
    words = new long[2 * FIRST_SLOTS];
    lengths = new byte[FIRST_SLOTS];
    values = empty(FIRST_SLOTS);
    Arrays.fill(routesOfLength, 0);
    size = 0;
  }

  private void grow() {
    long[] oldWords = words;
    byte[] oldLengths = lengths;
    int[] oldValues = values;
    int slots = oldValues.length + oldValues.length / 2;
    words = new long[2 * slots];
    lengths = new byte[slots];
    values = empty(slots);
    for (int i = 0; i < oldValues.length; i++) {
      if (oldValues[i] != NONE) {
        int slot = find(oldWords[2 * i], oldWords[2 * i + 1], oldLengths[i] & 0xff);
        words[2 * slot] = oldWords[2 * i];
        words[2 * slot + 1] = oldWords[2 * i + 1];
        lengths[slot] = oldLengths[i];
        values[slot] = oldValues[i];
      }
    }
  }

  private int find(long high, long low, int length) {
    int slot = home(high, low, length);
    while (values[slot] != NONE
        && (words[2 * slot + 1] != low
            || words[2 * slot] != high
            || (lengths[slot] & 0xff) != length)) {
      slot = next(slot);
    }
    return slot;
  }

  private int next(int slot) {
    return slot + 1 == values.length ? 0 : slot + 1;
  }

  private int distance(int from, int to) {
    return to >= from ? to - from : to - from + values.length;
  }

  /* The slots are as many as there happen to be: the hash's upper half, scaled. */
  private int home(long high, long low, int length) {
    long mixed = (high ^ length) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 32 ^ low) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 29) * 0x94d049bb133111ebL;
    return (int) ((mixed >>> 32) * values.length >>> 32);
  }
}
