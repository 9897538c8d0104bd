package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.util.Arrays;

/**
 * Hash table from prefixes to numbers, for 100,000 routes and more, with 24 bytes per slot in
 * native memory. When the table grows, its old memory returns to the system at once. On the heap it
 * would stay resident until a garbage collection, which an idle daemon doesn't have. The table uses
 * open addressing with linear probing, is at most four fifths full, and doubles when it grows. Used
 * by one thread.
 *
 * <pre>
 * slot    0 prefix, 16 bytes as two u64    16 its length, u32    20 number + 1, u32; 0 is a free slot
 * </pre>
 */
final class RouteTable implements AutoCloseable {
  /** Result if a prefix isn't in the table; numbers are never negative. */
  static final int NONE = -1;

  /** Visitor of {@link #forEach}; must not change the table. */
  @FunctionalInterface
  interface Visitor {
    void visit(long high, long low, int length, int value);
  }

  /** Selection of prefixes. */
  @FunctionalInterface
  interface PrefixPredicate {
    boolean test(long high, long low, int length);
  }

  private static final int FIRST_SLOTS = 64;
  private static final int SLOT_BYTES = 24;
  private static final int LOW = 8;
  private static final int LENGTH = 16;
  private static final int VALUE = 20;

  private final int[] routesOfLength = new int[Prefix.MAX_LENGTH + 1];
  private Arena arena;
  private long base;
  private int slots;
  private int size;

  RouteTable() {
    arena = Arena.ofShared();
    slots = FIRST_SLOTS;
    base = Memory.allocate(arena, (long) slots * SLOT_BYTES, Long.BYTES);
  }

  int size() {
    return size;
  }

  /** Returns the number of routes with this prefix length. */
  int routesOfLength(int length) {
    return routesOfLength[length];
  }

  int get(long high, long low, int length) {
    return value(find(high, low, length));
  }

  /** Stores a number for a prefix. Returns the number stored before, or {@link #NONE}. */
  int put(long high, long low, int length, int value) {
    int slot = find(high, low, length);
    int before = value(slot);
    if (before == NONE) {
      if (5L * (size + 1) > 4L * slots) {
        grow();
        slot = find(high, low, length);
      }
      long at = at(slot);
      Memory.ALL.set(Memory.NATIVE_LONG, at, high);
      Memory.ALL.set(Memory.NATIVE_LONG, at + LOW, low);
      Memory.ALL.set(Memory.NATIVE_INT, at + LENGTH, length);
      size++;
      routesOfLength[length]++;
    }
    setValue(slot, value);
    return before;
  }

  /** Removes a prefix. Returns the number stored for it, or {@link #NONE}. */
  int remove(long high, long low, int length) {
    int gap = find(high, low, length);
    int before = value(gap);
    if (before == NONE) {
      return NONE;
    }
    size--;
    routesOfLength[length]--;
    for (int index = next(gap); value(index) != NONE; index = next(index)) {
      int home = homeSlot(high(index), low(index), length(index));
      if (distance(home, index) >= distance(gap, index)) {
        Memory.copy(at(index), at(gap), SLOT_BYTES);
        gap = index;
      }
    }
    setValue(gap, NONE);
    return before;
  }

  void forEach(Visitor visitor) {
    for (int slot = 0; slot < slots; slot++) {
      int value = value(slot);
      if (value != NONE) {
        visitor.visit(high(slot), low(slot), length(slot), value);
      }
    }
  }

  /** Sets these bits in the numbers of the selected prefixes. */
  void mark(int bits, PrefixPredicate predicate) {
    for (int slot = 0; slot < slots; slot++) {
      int value = value(slot);
      if (value != NONE && predicate.test(high(slot), low(slot), length(slot))) {
        setValue(slot, value | bits);
      }
    }
  }

  void clear() {
    Arrays.fill(routesOfLength, 0);
    size = 0;
    allocateSlots(FIRST_SLOTS).close();
  }

  private void grow() {
    long oldBase = base;
    int oldSlots = slots;
    try (Arena old = allocateSlots(2 * slots)) {
      for (int i = 0; i < oldSlots; i++) {
        long from = oldBase + (long) i * SLOT_BYTES;
        if (Memory.ALL.get(Memory.NATIVE_INT, from + VALUE) != 0) {
          int slot =
              find(
                  Memory.ALL.get(Memory.NATIVE_LONG, from),
                  Memory.ALL.get(Memory.NATIVE_LONG, from + LOW),
                  Memory.ALL.get(Memory.NATIVE_INT, from + LENGTH));
          Memory.copy(from, at(slot), SLOT_BYTES);
        }
      }
    }
  }

  /* Switches to new, empty slots. Returns the arena of the old slots. */
  private Arena allocateSlots(int newSlots) {
    Arena old = arena;
    Arena next = Arena.ofShared();
    base = Memory.allocate(next, (long) newSlots * SLOT_BYTES, Long.BYTES);
    arena = next;
    slots = newSlots;
    return old;
  }

  private int find(long high, long low, int length) {
    int slot = homeSlot(high, low, length);
    while (value(slot) != NONE
        && (low(slot) != low || high(slot) != high || length(slot) != length)) {
      slot = next(slot);
    }
    return slot;
  }

  private long at(int slot) {
    return base + (long) slot * SLOT_BYTES;
  }

  private long high(int slot) {
    return Memory.ALL.get(Memory.NATIVE_LONG, at(slot));
  }

  private long low(int slot) {
    return Memory.ALL.get(Memory.NATIVE_LONG, at(slot) + LOW);
  }

  private int length(int slot) {
    return Memory.ALL.get(Memory.NATIVE_INT, at(slot) + LENGTH);
  }

  private int value(int slot) {
    return Memory.ALL.get(Memory.NATIVE_INT, at(slot) + VALUE) - 1;
  }

  private void setValue(int slot, int value) {
    Memory.ALL.set(Memory.NATIVE_INT, at(slot) + VALUE, value + 1);
  }

  private int next(int slot) {
    return slot + 1 == slots ? 0 : slot + 1;
  }

  private int distance(int from, int to) {
    return to >= from ? to - from : to - from + slots;
  }

  /*
   * Returns the slot at which the search for a prefix begins: the hash's upper half, scaled to the
   * number of slots.
   */
  private int homeSlot(long high, long low, int length) {
    long mixed = (high ^ length) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 32 ^ low) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 29) * 0x94d049bb133111ebL;
    return (int) ((mixed >>> 32) * slots >>> 32);
  }

  @Override
  public void close() {
    arena.close();
  }
}
