package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.group.FlowDirection;
import io.heddle.bridge.group.GroupSettings;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.pgm.PgmObserver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Group in operation: its settings, its paths into both fabrics, its counters. The control thread
 * creates it; its mutable state belongs to the data thread.
 */
final class BridgedGroup {
  /** Copies within a second that suspend the group. */
  static final int MOST_COPIES = 100;

  private static final long SECOND_NS = 1_000_000_000L;

  private final GroupSettings settings;
  private final int slot;
  private final @Nullable LimitedFlow[] flows;
  private final long[] counters;
  private final @Nullable PgmObserver pgm;
  private int copies;
  private long copiesSinceNs;
  /* Written by the data thread, read by the control thread, which reports it. */
  private volatile boolean suspended;
  private boolean reported;
  /* Written by the thread that gives the order, read by the data thread. */
  private volatile int dropEvery;
  /* By side: packets since the last one dropped on purpose. The data thread's. */
  private final int[] packetsSinceDrop = new int[2];

  /**
   * @param slot in the status file
   * @param flows into fabric a and b; null if no packets are forwarded
   * @param counters of packets from fabric a and b
   * @param pgm observer of its packets; null for none
   */
  BridgedGroup(
      GroupSettings settings,
      int slot,
      @Nullable LimitedFlow[] flows,
      long[] counters,
      @Nullable PgmObserver pgm) {
    this.settings = settings;
    this.slot = slot;
    this.flows = flows;
    this.counters = counters;
    this.pgm = pgm;
  }

  GroupSettings settings() {
    return settings;
  }

  int slot() {
    return slot;
  }

  /** Frees its paths. No thread sends through them any more. */
  void retirePaths(List<FabricPort> fabrics) {
    for (int side = 0; side < flows.length; side++) {
      LimitedFlow flow = flows[side];
      if (flow != null) {
        fabrics.get(side).retire(flow.sendPath());
      }
    }
  }

  FlowDirection direction() {
    return settings.direction();
  }

  /** Returns the flow of packets from this side; null if they aren't forwarded. */
  @Nullable LimitedFlow flowFrom(int side) {
    return flows[1 - side];
  }

  long[] counters() {
    return counters.clone();
  }

  long counters(int side) {
    return counters[side];
  }

  @Nullable PgmObserver pgm() {
    return pgm;
  }

  boolean isSuspended() {
    return suspended;
  }

  /** Returns true once, for the report of its suspension. Control thread only. */
  boolean takeFirstReport() {
    boolean first = !reported;
    reported = true;
    return first;
  }

  /** Drops one of this many packets in each direction; 0 for none. Any thread. */
  void dropOneOf(int every) {
    dropEvery = every;
  }

  /** Returns whether the next packet from this side is dropped on purpose. */
  boolean shouldDropNext(int side) {
    int every = dropEvery;
    if (every == 0) {
      return false;
    }
    packetsSinceDrop[side]++;
    if (packetsSinceDrop[side] < every) {
      return false;
    }
    packetsSinceDrop[side] = 0;
    return true;
  }

  /** Counts a returned copy. A hundred within a second suspend the group. */
  void countReturnedCopy(long nowNs) {
    if (copies == 0 || nowNs - copiesSinceNs > SECOND_NS) {
      copies = 0;
      copiesSinceNs = nowNs;
    }
    copies++;
    if (copies >= MOST_COPIES) {
      suspended = true;
    }
  }
}
