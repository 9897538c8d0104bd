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
   * @param most number of slots
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

  /** Returns the next slot in the chain of this one, or {@link #NONE}. */
  public int next(int slot) {
    return nextInChain[slot];
  }

  public boolean isFull() {
    return free == NONE;
  }

  /** Takes a free slot, and returns it. The table must not be full. */
  public int add(int hash, long nowNs) {
    int slot = free;
    free = nextInChain[slot];
    hashes[slot] = hash;
    usedNs[slot] = nowNs;
    nextInChain[slot] = chains[hash & mask];
    chains[hash & mask] = slot;
    linkNewest(slot);
    size++;
    return slot;
  }

  /** Marks a slot as used now. */
  public void touch(int slot, long nowNs) {
    usedNs[slot] = nowNs;
    if (slot != newest) {
      unlink(slot);
      linkNewest(slot);
    }
  }

  /** Frees a slot. */
  public void remove(int slot) {
    int chain = hashes[slot] & mask;
    if (chains[chain] == slot) {
      chains[chain] = nextInChain[slot];
    } else {
      int before = chains[chain];
      while (nextInChain[before] != slot) {
        before = nextInChain[before];
      }
      nextInChain[before] = nextInChain[slot];
    }
    unlink(slot);
    nextInChain[slot] = free;
    free = slot;
    size--;
  }

  private void unlink(int slot) {
    int after = newer[slot];
    int before = older[slot];
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

  private void linkNewest(int slot) {
    newer[slot] = NONE;
    older[slot] = newest;
    if (newest == NONE) {
      oldest = slot;
    } else {
      newer[newest] = slot;
    }
    newest = slot;
  }

  /** Returns the most recently used slot, or {@link #NONE}. */
  public int newest() {
    return newest;
  }

  /** Returns the least recently used slot, or {@link #NONE}. */
  public int oldest() {
    return oldest;
  }

  /** Returns the slot that was last used before this one, or {@link #NONE}. */
  public int older(int slot) {
    return older[slot];
  }

  /** Returns whether the least recently used slot has been idle for this long. */
  public boolean isOldestIdle(long nowNs, long idleNs) {
    return oldest != NONE && nowNs - usedNs[oldest] >= idleNs;
  }

  public int size() {
    return size;
  }
}
