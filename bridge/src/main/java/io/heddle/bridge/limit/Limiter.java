package io.heddle.bridge.limit;

import io.heddle.bridge.group.RateLimit;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Lets packets leave no faster than is allowed: by group and direction first, then by the link into
 * the fabric. What is too early waits in its flow's queue, whose cells come from one bounded pool.
 * No queue is thrown away whole. The data thread's.
 */
public final class Limiter {
  /** Where packets go when they may leave. */
  public interface Outlet {
    /** The packet must stay where it is until the fabric is flushed. */
    void depart(
        LimitedFlow flow,
        long packet,
        int lengthBytes,
        int crc,
        long digest,
        long arrivedNs,
        long nowNs);
  }

  /** What all packets that wait have in all. */
  public static final long POOL_BYTES = 64L << 20;

  /* Of one flow at a time, so that others have their turn. */
  private static final int MOST_AT_ONCE = 256;

  private final CellPool pool;
  private final TimerWheel wheel;
  private final Outlet outlet;
  private final Gcra[] links = {new Gcra(), new Gcra()};
  private final RateLimit[] linkLimits = {RateLimit.NONE, RateLimit.NONE};
  /* Cells whose packets were handed over and perhaps not flushed, in a chain. */
  private int departed = CellPool.NONE;

  /**
   * @param packetBytes of the largest packet
   */
  public Limiter(Arena arena, long poolBytes, int packetBytes, Outlet outlet, long nowNs) {
    pool = new CellPool(arena, poolBytes, packetBytes);
    wheel = new TimerWheel(nowNs);
    this.outlet = outlet;
  }

  /** Sets the limit of a link. */
  public void setLink(int side, RateLimit limit, long nowNs) {
    if (!limit.equals(linkLimits[side])) {
      linkLimits[side] = limit;
      links[side].set(limit, nowNs);
    }
  }

  /** Whether no packet of this flow ever waits. */
  private boolean isFree(LimitedFlow flow) {
    return flow.waiting == 0 && flow.gcra.isUnlimited() && links[flow.side].isUnlimited();
  }

  private long waitNs(LimitedFlow flow, long nowNs) {
    return Math.max(flow.gcra.waitNs(nowNs), links[flow.side].waitNs(nowNs));
  }

  private void take(LimitedFlow flow, long nowNs, boolean waited) {
    flow.gcra.take(nowNs, waited);
    links[flow.side].take(nowNs, waited);
  }

  /** A packet wants to leave: it departs now, waits, or is dropped and counted. */
  public void offer(
      LimitedFlow flow,
      long packet,
      int lengthBytes,
      int crc,
      long digest,
      long arrivedNs,
      long nowNs) {
    if (isFree(flow)) {
      outlet.depart(flow, packet, lengthBytes, crc, digest, arrivedNs, nowNs);
      return;
    }
    if (flow.waiting == 0) {
      long wait = waitNs(flow, nowNs);
      if (wait == 0) {
        take(flow, nowNs, false);
        outlet.depart(flow, packet, lengthBytes, crc, digest, arrivedNs, nowNs);
        return;
      }
    }
    RateLimit limit = flow.limit.isNone() ? linkLimits[flow.side] : flow.limit;
    if (flow.waiting >= limit.queuePackets()) {
      GroupCounters.dropped(flow.counters, DropReason.QUEUE_FULL, 1);
      if (!limit.dropsOldest() || flow.waiting == 0) {
        return;
      }
      pool.give(unlink(flow, nowNs));
    }
    int cell = pool.take();
    if (cell == CellPool.NONE) {
      GroupCounters.dropped(flow.counters, DropReason.POOL_FULL, 1);
      return;
    }
    pool.put(cell, packet, lengthBytes, crc, digest, arrivedNs, nowNs);
    link(flow, cell);
    GroupCounters.delayed(flow.counters);
    if (!flow.scheduled) {
      wheel.put(flow, nowNs + waitNs(flow, nowNs));
    }
  }

  private void link(LimitedFlow flow, int cell) {
    pool.setNext(cell, CellPool.NONE);
    if (flow.tail == CellPool.NONE) {
      flow.head = cell;
    } else {
      pool.setNext(flow.tail, cell);
    }
    flow.tail = cell;
    flow.waiting++;
  }

  /* The oldest cell of a queue that isn't empty. */
  private int unlink(LimitedFlow flow, long nowNs) {
    int cell = flow.head;
    flow.head = pool.next(cell);
    if (flow.head == CellPool.NONE) {
      flow.tail = CellPool.NONE;
    }
    flow.waiting--;
    GroupCounters.released(flow.counters, nowNs - pool.waitingSinceNs(cell));
    return cell;
  }

  /**
   * Lets leave what may by now.
   *
   * @return packets that did
   */
  public int advance(long nowNs) {
    int released = 0;
    LimitedFlow chain = wheel.expire(nowNs);
    while (chain != null) {
      LimitedFlow flow = chain;
      chain = flow.next;
      flow.next = null;
      released += release(flow, nowNs);
      if (chain == null) {
        chain = wheel.expire(nowNs);
      }
    }
    return released;
  }

  private int release(LimitedFlow flow, long nowNs) {
    int released = 0;
    while (flow.waiting > 0 && released < MOST_AT_ONCE && waitNs(flow, nowNs) == 0) {
      take(flow, nowNs, true);
      depart(flow, nowNs);
      released++;
    }
    if (flow.waiting > 0) {
      wheel.put(flow, nowNs + waitNs(flow, nowNs));
    }
    return released;
  }

  private void depart(LimitedFlow flow, long nowNs) {
    int cell = unlink(flow, nowNs);
    pool.setNext(cell, departed);
    departed = cell;
    outlet.depart(
        flow,
        pool.packet(cell),
        pool.length(cell),
        pool.crc(cell),
        pool.digest(cell),
        pool.arrivedNs(cell),
        nowNs);
  }

  /** Both fabrics were flushed: the cells of what departed are free again. */
  public void flushed() {
    while (departed != CellPool.NONE) {
      int cell = departed;
      departed = pool.next(cell);
      pool.give(cell);
    }
  }

  /** Nanoseconds until something may leave; −1 where nothing waits. */
  public long waitNs(long nowNs) {
    return wheel.waitNs(nowNs);
  }

  /**
   * A flow is replaced: what waits goes on in the new one.
   *
   * @param heir null where the group is gone; then what waits is dropped and counted
   */
  public void retire(LimitedFlow flow, @Nullable LimitedFlow heir, long nowNs) {
    while (flow.waiting > 0) {
      int cell = unlink(flow, nowNs);
      if (heir == null) {
        GroupCounters.dropped(flow.counters, DropReason.GROUP_REMOVED, 1);
        pool.give(cell);
      } else {
        link(heir, cell);
        GroupCounters.stillWaits(heir.counters);
      }
    }
    if (heir != null && heir.waiting > 0 && !heir.scheduled) {
      wheel.put(heir, nowNs + waitNs(heir, nowNs));
    }
  }

  /** Cells that packets lie in. */
  int cellsInUse() {
    return pool.used();
  }

  /** Cells that there are. */
  int cells() {
    return pool.cells();
  }
}
