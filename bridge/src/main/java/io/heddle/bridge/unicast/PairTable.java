package io.heddle.bridge.unicast;

import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.table.LruSlots;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Table of the host pairs that communicate over the bridge in one direction, found by source and
 * destination. Bounded: the least recently used pair is evicted first, and pairs expire after
 * {@link #IDLE_NS}. A packet of a known pair allocates nothing. Used by the data thread only.
 */
final class PairTable {
  /** Idle time after which a pair expires. */
  static final long IDLE_NS = 300_000_000_000L;

  private static final int WORDS = 4;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final LruSlots pairs;
  private final long[] keys;
  private final @Nullable LimitedFlow[] flows;
  private long evicted;
  private long aged;

  /**
   * @param most maximum number of pairs
   */
  PairTable(int most) {
    pairs = new LruSlots(most);
    keys = new long[WORDS * most];
    flows = new LimitedFlow[most];
  }

  private static int hash(
      long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
    long mixed = ((sourceHigh * MIX ^ sourceLow) * MIX ^ destinationHigh) * MIX ^ destinationLow;
    return (int) (mixed * MIX >>> 32);
  }

  /** Returns the flow of this pair, and marks it as used; null if the pair is new. */
  @Nullable LimitedFlow find(
      long sourceHigh, long sourceLow, long destinationHigh, long destinationLow, long nowNs) {
    int pair = pairs.first(hash(sourceHigh, sourceLow, destinationHigh, destinationLow));
    while (pair != LruSlots.NONE) {
      int key = WORDS * pair;
      if (keys[key + 1] == sourceLow
          && keys[key + 3] == destinationLow
          && keys[key] == sourceHigh
          && keys[key + 2] == destinationHigh) {
        pairs.touch(pair, nowNs);
        return flows[pair];
      }
      pair = pairs.next(pair);
    }
    return null;
  }

  /** Adds a new pair. */
  void add(
      long sourceHigh,
      long sourceLow,
      long destinationHigh,
      long destinationLow,
      LimitedFlow flow,
      long nowNs) {
    if (pairs.isFull()) {
      remove(pairs.oldest());
      evicted++;
    }
    int pair = pairs.add(hash(sourceHigh, sourceLow, destinationHigh, destinationLow), nowNs);
    int key = WORDS * pair;
    keys[key] = sourceHigh;
    keys[key + 1] = sourceLow;
    keys[key + 2] = destinationHigh;
    keys[key + 3] = destinationLow;
    flows[pair] = flow;
  }

  /* Removes a pair. Its packets in the limiter are still sent. */
  private void remove(int pair) {
    pairs.remove(pair);
    flows[pair] = null;
  }

  /** Removes the pairs that have been idle for {@link #IDLE_NS}. */
  void expire(long nowNs) {
    while (pairs.isOldestIdle(nowNs, IDLE_NS)) {
      remove(pairs.oldest());
      aged++;
    }
  }

  /** Removes all pairs. */
  void clear() {
    pairs.clear();
    Arrays.fill(flows, null);
  }

  int size() {
    return pairs.size();
  }

  /** Returns the number of pairs evicted from a full table. */
  long evicted() {
    return evicted;
  }

  /** Returns the number of pairs that expired. */
  long aged() {
    return aged;
  }
}
