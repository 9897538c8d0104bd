package io.heddle.bridge.limit;

import io.heddle.bridge.fabric.Way;
import io.heddle.bridge.group.RateLimit;
import org.jspecify.annotations.Nullable;

/**
 * One group's packets into one fabric, which may have to wait. The control thread makes it, all
 * else is the data thread's.
 */
public final class LimitedFlow {
  final int side;
  final RateLimit limit;
  final long counters;
  final Gcra gcra = new Gcra();
  private final Way way;
  int head = CellPool.NONE;
  int tail = CellPool.NONE;
  int waiting;
  /* In a slot of the timer wheel. */
  @Nullable LimitedFlow next;
  boolean scheduled;

  /**
   * @param side that packets leave for, 0 for fabric a
   * @param limit of the group
   * @param counters of the group and direction
   */
  public LimitedFlow(int side, Way way, RateLimit limit, long counters, long nowNs) {
    this.side = side;
    this.way = way;
    this.limit = limit;
    this.counters = counters;
    gcra.set(limit, nowNs);
  }

  public Way way() {
    return way;
  }

  public int side() {
    return side;
  }

  public long counters() {
    return counters;
  }
}
