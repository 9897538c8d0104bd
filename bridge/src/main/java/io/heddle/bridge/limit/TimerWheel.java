package io.heddle.bridge.limit;

import org.jspecify.annotations.Nullable;

/**
 * Timer wheel of flows by the due time of their next packet: 4096 slots of 20 µs, so that the cost
 * is independent of the number of waiting flows. A flow that is due beyond the wheel's range
 * expires early and is put back. Used by the data thread only.
 */
final class TimerWheel {
  static final long TICK_NS = 20_000;
  static final int SLOTS = 4096;

  private final @Nullable LimitedFlow[] slots = new LimitedFlow[SLOTS];
  private final long[] filled = new long[SLOTS / Long.SIZE];
  private long tick;
  private int flows;

  TimerWheel(long nowNs) {
    tick = Math.floorDiv(nowNs, TICK_NS);
  }

  /** Schedules a flow at this time, or at most a tick later. The flow must not be in the wheel. */
  void put(LimitedFlow flow, long dueNs) {
    long due = Math.floorDiv(dueNs + TICK_NS - 1, TICK_NS);
    long bounded = Math.max(tick + 1, Math.min(due, tick + SLOTS - 1));
    int slot = (int) (bounded & SLOTS - 1);
    flow.scheduled = true;
    flow.next = slots[slot];
    slots[slot] = flow;
    filled[slot >>> 6] |= 1L << (slot & 63);
    flows++;
  }

  /**
   * Removes and returns the flows of the next filled slot up to now, chained by {@code next}; null
   * if there is none.
   */
  @Nullable LimitedFlow expire(long nowNs) {
    long now = Math.floorDiv(nowNs, TICK_NS);
    if (flows == 0) {
      tick = now;
      return null;
    }
    long steps = stepsToFilled();
    if (tick + steps > now) {
      tick = now;
      return null;
    }
    tick += steps;
    int slot = (int) (tick & SLOTS - 1);
    LimitedFlow chain = slots[slot];
    slots[slot] = null;
    filled[slot >>> 6] &= ~(1L << (slot & 63));
    for (LimitedFlow each = chain; each != null; each = each.next) {
      each.scheduled = false;
      flows--;
    }
    return chain;
  }

  /** Returns the nanoseconds until a flow expires; −1 if the wheel is empty. */
  long waitNs(long nowNs) {
    return flows == 0 ? -1 : Math.max(0, (tick + stepsToFilled()) * TICK_NS - nowNs);
  }

  /*
   * Returns the steps to the next filled slot, from 1 to the number of slots; the wheel must not be
   * empty.
   */
  private int stepsToFilled() {
    int from = (int) (tick + 1 & SLOTS - 1);
    int words = filled.length;
    long first = filled[from >>> 6] >>> (from & 63);
    if (first != 0) {
      return 1 + Long.numberOfTrailingZeros(first);
    }
    int steps = 1 + 64 - (from & 63);
    for (int i = 1; i <= words; i++) {
      long word = filled[(from >>> 6) + i & words - 1];
      if (word != 0) {
        return steps + Long.numberOfTrailingZeros(word);
      }
      steps += Long.SIZE;
    }
    throw new IllegalStateException("flows in the wheel, and no slot is filled");
  }
}
