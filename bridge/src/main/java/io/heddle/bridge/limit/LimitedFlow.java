package io.heddle.bridge.limit;

import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.multicast.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * Flow of one group's packets into one fabric, with its queue. Created on the control path; its
 * mutable state belongs to the data thread.
 */
public final class LimitedFlow {
  final int side;
  final RateLimit limit;
  final long counters;
  final Gcra gcra = new Gcra();
  private final SendPath sendPath;
  int head = CellPool.NONE;
  int tail = CellPool.NONE;
  int waiting;
  /* Next flow in the same slot of the timer wheel. */
  @Nullable LimitedFlow next;
  boolean scheduled;

  /**
   * @param side destination fabric, 0 for fabric a
   * @param limit rate limit of the group
   * @param counters address of the counters of the group and direction
   */
  public LimitedFlow(int side, SendPath sendPath, RateLimit limit, long counters, long nowNs) {
    this.side = side;
    this.sendPath = sendPath;
    this.limit = limit;
    this.counters = counters;
    gcra.set(limit, nowNs);
  }

  public SendPath sendPath() {
    return sendPath;
  }

  public int side() {
    return side;
  }

  public long counters() {
    return counters;
  }
}
