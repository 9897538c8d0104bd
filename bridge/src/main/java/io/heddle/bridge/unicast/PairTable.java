package io.heddle.bridge.unicast;

import io.heddle.bridge.limit.LimitedFlow;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The pairs of hosts that talk over the bridge in one direction, found by source and destination.
 * Bounded: the least recently used pair goes first. Pairs that are silent for {@link #IDLE_NS} go
 * by themselves. Nothing is allocated for a packet of a pair that is there. The data thread's.
 */
final class PairTable {
  /** For so long a silent pair stays. */
  static final long IDLE_NS = 300_000_000_000L;

  private static final int NONE = -1;
  private static final int WORDS = 4;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final int mask;
  private final int[] buckets;
  private final int[] nextInBucket;
  private final long[] keys;
  private final @Nullable LimitedFlow[] flows;
  private final long[] usedNs;
  /* A ring of all pairs in the order of their use. */
  private final int[] newer;
  private final int[] older;
  private int newest = NONE;
  private int oldest = NONE;
  private int free;
  private int size;
  private long evicted;
  private long aged;

  /**
   * @param most pairs at a time
   */
  PairTable(int most) {
    mask = Integer.highestOneBit(Math.max(2, most * 2 - 1)) - 1;
    buckets = new int[mask + 1];
    nextInBucket = new int[most];
    keys = new long[WORDS * most];
    flows = new LimitedFlow[most];
    usedNs = new long[most];
    newer = new int[most];
    older = new int[most];
    Arrays.fill(buckets, NONE);
    for (int i = 0; i < most; i++) {
      nextInBucket[i] = i + 1 < most ? i + 1 : NONE;
    }
  }

  private int bucket(long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
    long mixed = ((sourceHigh * MIX ^ sourceLow) * MIX ^ destinationHigh) * MIX ^ destinationLow;
    return (int) (mixed * MIX >>> 32) & mask;
  }

  /** What packets of this pair leave by, which is used now; null where the pair is new. */
  @Nullable LimitedFlow find(
      long sourceHigh, long sourceLow, long destinationHigh, long destinationLow, long nowNs) {
    int pair = buckets[bucket(sourceHigh, sourceLow, destinationHigh, destinationLow)];
    while (pair != NONE) {
      int key = WORDS * pair;
      if (keys[key + 1] == sourceLow
          && keys[key + 3] == destinationLow
          && keys[key] == sourceHigh
          && keys[key + 2] == destinationHigh) {
        touch(pair, nowNs);
        return flows[pair];
      }
      pair = nextInBucket[pair];
    }
    return null;
  }

  private void touch(int pair, long nowNs) {
    usedNs[pair] = nowNs;
    if (pair != newest) {
      unlink(pair);
      linkNewest(pair);
    }
  }

  private void unlink(int pair) {
    int after = newer[pair];
    int before = older[pair];
    if (after == NONE) {
      newest = before;
    } else {
      older[after] = before;
    }
    if (before == NONE) {
      oldest = after;
    } else {
      newer[before] = after;
    }
  }

  private void linkNewest(int pair) {
    newer[pair] = NONE;
    older[pair] = newest;
    if (newest == NONE) {
      oldest = pair;
    } else {
      newer[newest] = pair;
    }
    newest = pair;
  }

  /** Enters a pair that isn't there. */
  void add(
      long sourceHigh,
      long sourceLow,
      long destinationHigh,
      long destinationLow,
      LimitedFlow flow,
      long nowNs) {
    if (free == NONE) {
      remove(oldest);
      evicted++;
    }
    int pair = free;
    free = nextInBucket[pair];
    int key = WORDS * pair;
    keys[key] = sourceHigh;
    keys[key + 1] = sourceLow;
    keys[key + 2] = destinationHigh;
    keys[key + 3] = destinationLow;
    flows[pair] = flow;
    usedNs[pair] = nowNs;
    int bucket = bucket(sourceHigh, sourceLow, destinationHigh, destinationLow);
    nextInBucket[pair] = buckets[bucket];
    buckets[bucket] = pair;
    linkNewest(pair);
    size++;
  }

  /* What still waits in the limiter leaves all the same. */
  private void remove(int pair) {
    int key = WORDS * pair;
    int bucket = bucket(keys[key], keys[key + 1], keys[key + 2], keys[key + 3]);
    if (buckets[bucket] == pair) {
      buckets[bucket] = nextInBucket[pair];
    } else {
      int before = buckets[bucket];
      while (nextInBucket[before] != pair) {
        before = nextInBucket[before];
      }
      nextInBucket[before] = nextInBucket[pair];
    }
    unlink(pair);
    flows[pair] = null;
    nextInBucket[pair] = free;
    free = pair;
    size--;
  }

  /** Ends the pairs that have been silent for long enough. */
  void expire(long nowNs) {
    while (oldest != NONE && nowNs - usedNs[oldest] >= IDLE_NS) {
      remove(oldest);
      aged++;
    }
  }

  /** Ends all pairs. */
  void clear() {
    while (oldest != NONE) {
      remove(oldest);
    }
  }

  int size() {
    return size;
  }

  /** Pairs that went since there was no room. */
  long evicted() {
    return evicted;
  }

  /** Pairs that went since they were silent. */
  long aged() {
    return aged;
  }
}
