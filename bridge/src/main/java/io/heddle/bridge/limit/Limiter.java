package io.heddle.bridge.limit;

import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.GroupCounters;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * Rate limiter of forwarded packets: by group and direction, and by the link into the fabric.
 * Packets beyond a limit wait in their flow's queue, whose cells come from one bounded pool. A full
 * queue drops single packets, never all of them. Used by the data thread only.
 */
public final class Limiter {
  /** Destination of the packets that the limits allow to be sent. */
  public interface Outlet {
    /** Sends a packet, which must stay in place until the fabric is flushed. */
    void send(
        LimitedFlow flow,
        long packet,
        int lengthBytes,
        int crc,
        long digest,
        long arrivedNs,
        long nowNs);
  }

  /** Memory for all queued packets. */
  public static final long POOL_BYTES = 64L << 20;

  /* Maximum number of packets of one flow that are sent at a time, for fairness among flows. */
  private static final int MOST_AT_ONCE = 256;

  private final CellPool pool;
  private final TimerWheel wheel;
  private final Outlet outlet;
  private final Gcra[] links = {new Gcra(), new Gcra()};
  private final RateLimit[] linkLimits = {RateLimit.NONE, RateLimit.NONE};
  /* First of a chain of cells whose packets were passed to the outlet since the last flush. */
  private int departed = CellPool.NONE;

  /**
   * @param packetBytes size of the largest packet
   */
  public Limiter(Arena arena, long poolBytes, int packetBytes, Outlet outlet, long nowNs) {
    pool = new CellPool(arena, poolBytes, packetBytes);
    wheel = new TimerWheel(nowNs);
    this.outlet = outlet;
  }

  /** Sets the rate limit of the link into a fabric. */
  public void setLink(int side, RateLimit limit, long nowNs) {
    if (!limit.equals(linkLimits[side])) {
      linkLimits[side] = limit;
      links[side].set(limit, nowNs);
    }
  }

  /** Returns whether neither a limit nor queued packets can delay the flow's next packet. */
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

  /** Offers a packet, which departs now, is queued, or is dropped and counted. */
  public void offer(
      LimitedFlow flow,
      long packet,
      int lengthBytes,
      int crc,
      long digest,
      long arrivedNs,
      long nowNs) {
    if (isFree(flow)) {
      outlet.send(flow, packet, lengthBytes, crc, digest, arrivedNs, nowNs);
      return;
    }
    if (flow.waiting == 0) {
      long wait = waitNs(flow, nowNs);
      if (wait == 0) {
        take(flow, nowNs, false);
        outlet.send(flow, packet, lengthBytes, crc, digest, arrivedNs, nowNs);
        return;
      }
    }
    RateLimit limit = flow.limit.isNone() ? linkLimits[flow.side] : flow.limit;
    if (flow.waiting >= limit.queuePackets()) {
      GroupCounters.dropped(flow.counters, DropReason.QUEUE_FULL, 1);
      if (!limit.dropsOldest() || flow.waiting == 0) {
        return;
      }
      pool.free(unlink(flow, nowNs));
    }
    int cell = pool.allocate();
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

  /* Removes the oldest cell of a non-empty queue. */
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
   * Sends the packets that are due.
   *
   * @return number of packets sent
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
      sendHead(flow, nowNs);
      released++;
    }
    if (flow.waiting > 0) {
      wheel.put(flow, nowNs + waitNs(flow, nowNs));
    }
    return released;
  }

  private void sendHead(LimitedFlow flow, long nowNs) {
    int cell = unlink(flow, nowNs);
    pool.setNext(cell, departed);
    departed = cell;
    outlet.send(
        flow,
        pool.packet(cell),
        pool.length(cell),
        pool.crc(cell),
        pool.digest(cell),
        pool.arrivedNs(cell),
        nowNs);
  }

  /** Frees the cells of the sent packets. Called after both fabrics were flushed. */
  public void flushed() {
    while (departed != CellPool.NONE) {
      int cell = departed;
      departed = pool.next(cell);
      pool.free(cell);
    }
  }

  /** Returns the nanoseconds until a queued packet may be sent; −1 if none waits. */
  public long waitNs(long nowNs) {
    return wheel.waitNs(nowNs);
  }

  /**
   * Replaces a flow; its queued packets move to the new one.
   *
   * @param heir the new flow; null if there is none, so that the queued packets are dropped and
   *     counted
   */
  public void retire(LimitedFlow flow, @Nullable LimitedFlow heir, long nowNs) {
    while (flow.waiting > 0) {
      int cell = unlink(flow, nowNs);
      if (heir == null) {
        GroupCounters.dropped(flow.counters, DropReason.GROUP_REMOVED, 1);
        pool.free(cell);
      } else {
        link(heir, cell);
        GroupCounters.requeued(heir.counters);
      }
    }
    if (heir != null && heir.waiting > 0 && !heir.scheduled) {
      wheel.put(heir, nowNs + waitNs(heir, nowNs));
    }
  }

  /** Returns the number of cells in use. */
  int cellsInUse() {
    return pool.used();
  }

  /** Returns the number of cells in the pool. */
  int cells() {
    return pool.cells();
  }
}
