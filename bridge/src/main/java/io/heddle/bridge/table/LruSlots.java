package io.heddle.bridge.table;

import java.util.Arrays;

/**
 * Slots of a bounded hash table with least-recently-used order. A used slot is in the chain of its
 * hash and in a list by last use. The owner of the table stores and compares the values.
 * Single-threaded, without allocation.
 */
public final class LruSlots {
  public static final int NONE = -1;

  private final int mask;
  private final int[] chains;
  private final int[] nextInChain;
  private final int[] hashes;
  private final long[] usedNs;
  private final int[] newer;
  private final int[] older;
  private int newest = NONE;
  private int oldest = NONE;
  private int free;
  private int size;

  /**
   * @param most slots
   */
  public LruSlots(int most) {
    mask = Integer.highestOneBit(Math.max(2, most * 2 - 1)) - 1;
    chains = new int[mask + 1];
    nextInChain = new int[most];
    hashes = new int[most];
    usedNs = new long[most];
    newer = new int[most];
    older = new int[most];
    clear();
  }

  /** Frees all slots. */
  public void clear() {
    Arrays.fill(chains, NONE);
    for (int i = 0; i < nextInChain.length; i++) {
      nextInChain[i] = i + 1 < nextInChain.length ? i + 1 : NONE;
    }
    newest = NONE;
    oldest = NONE;
    free = 0;
    size = 0;
  }

  /** Returns the first slot in the chain of this hash, or {@link #NONE}. */
  public int first(int hash) {
    return chains[hash & mask];
  }

  /** Returns the next slot in its chain. */
  public int next(int place) {
    return nextInChain[place];
  }

  public boolean isFull() {
    return free == NONE;
  }

  /** Takes a free slot, of which there must be one. */
  public int add(int hash, long nowNs) {
    int place = free;
    free = nextInChain[place];
    hashes[place] = hash;
    usedNs[place] = nowNs;
    nextInChain[place] = chains[hash & mask];
    chains[hash & mask] = place;
    linkNewest(place);
    size++;
    return place;
  }

  /** Marks a slot as used now. */
  public void touch(int place, long nowNs) {
    usedNs[place] = nowNs;
    if (place != newest) {
      unlink(place);
      linkNewest(place);
    }
  }

  /** Frees a slot. */
  public void remove(int place) {
    int chain = hashes[place] & mask;
    if (chains[chain] == place) {
      chains[chain] = nextInChain[place];
    } else {
      int before = chains[chain];
      while (nextInChain[before] != place) {
        before = nextInChain[before];
      }
      nextInChain[before] = nextInChain[place];
    }
    unlink(place);
    nextInChain[place] = free;
    free = place;
    size--;
  }

  private void unlink(int place) {
    int after = newer[place];
    int before = older[place];
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

  private void linkNewest(int place) {
    newer[place] = NONE;
    older[place] = newest;
    if (newest == NONE) {
      oldest = place;
    } else {
      newer[newest] = place;
    }
    newest = place;
  }

  /** Returns the most recently used slot, or {@link #NONE}. */
  public int newest() {
    return newest;
  }

  /** Returns the least recently used slot, or {@link #NONE}. */
  public int oldest() {
    return oldest;
  }

  /** Returns the slot used before this one, or {@link #NONE}. */
  public int older(int place) {
    return older[place];
  }

  /** Returns whether the least recently used slot has been idle for this long. */
  public boolean isOldestIdle(long nowNs, long idleNs) {
    return oldest != NONE && nowNs - usedNs[oldest] >= idleNs;
  }

  public int size() {
    return size;
  }
}
