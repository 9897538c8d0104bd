package io.heddle.bridge.unicast;

import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.table.RecentEntries;
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

  private static final int WORDS = 4;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final RecentEntries pairs;
  private final long[] keys;
  private final @Nullable LimitedFlow[] flows;
  private long evicted;
  private long aged;

  /**
   * @param most pairs at a time
   */
  PairTable(int most) {
    pairs = new RecentEntries(most);
    keys = new long[WORDS * most];
    flows = new LimitedFlow[most];
  }

  private static int hash(
      long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
    long mixed = ((sourceHigh * MIX ^ sourceLow) * MIX ^ destinationHigh) * MIX ^ destinationLow;
    return (int) (mixed * MIX >>> 32);
  }

  /** What packets of this pair leave by, which is used now; null where the pair is new. */
  @Nullable LimitedFlow find(
      long sourceHigh, long sourceLow, long destinationHigh, long destinationLow, long nowNs) {
    int pair = pairs.first(hash(sourceHigh, sourceLow, destinationHigh, destinationLow));
    while (pair != RecentEntries.NONE) {
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

  /** Enters a pair that isn't there. */
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

  /* What still waits in the limiter leaves all the same. */
  private void remove(int pair) {
    pairs.remove(pair);
    flows[pair] = null;
  }

  /** Ends the pairs that have been silent for long enough. */
  void expire(long nowNs) {
    while (pairs.isOldestIdle(nowNs, IDLE_NS)) {
      remove(pairs.oldest());
      aged++;
    }
  }

  /** Ends all pairs. */
  void clear() {
    pairs.clear();
    Arrays.fill(flows, null);
  }

  int size() {
    return pairs.size();
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
