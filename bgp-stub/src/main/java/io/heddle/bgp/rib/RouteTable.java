package io.heddle.bgp.rib;

import io.heddle.bgp.wire.Prefix;
import java.util.Arrays;

/**
 * Prefixes with a number each, in primitive arrays: 21 bytes a slot and no object, for tables of
 * 100,000 routes and more. Open addressing with linear probing.
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
      if (4 * (size + 1) > 3 * values.length) {
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
    int mask = values.length - 1;
    for (int index = gap + 1 & mask; values[index] != NONE; index = index + 1 & mask) {
      int home = hash(words[2 * index], words[2 * index + 1], lengths[index] & 0xff) & mask;
      if ((index - home & mask) >= (index - gap & mask)) {
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
    int slots = 2 * oldValues.length;
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
    int mask = values.length - 1;
    int slot = hash(high, low, length) & mask;
    while (values[slot] != NONE
        && (words[2 * slot + 1] != low
            || words[2 * slot] != high
            || (lengths[slot] & 0xff) != length)) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  private static int hash(long high, long low, int length) {
    long mixed = (high ^ length) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 32 ^ low) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 29) * 0x94d049bb133111ebL;
    return (int) (mixed ^ mixed >>> 32);
  }
}
