package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.group.FlowDirection;
import io.heddle.bridge.group.GroupSettings;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.pgm.PgmObserver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A group that is bridged now: its settings, its ways into both fabrics, where it is counted. The
 * control thread makes it; what changes in it is the data thread's.
 */
final class BridgedGroup {
  /** Copies within a second that suspend a group. */
  static final int MOST_COPIES = 100;

  private static final long SECOND_NS = 1_000_000_000L;

  private final GroupSettings settings;
  private final int slot;
  private final @Nullable LimitedFlow[] flows;
  private final long[] counters;
  private final @Nullable PgmObserver pgm;
  private int copies;
  private long copiesSinceNs;
  /* Set by the data thread, read by the control thread, which tells of it. */
  private volatile boolean suspended;
  private boolean told;
  /* Written by whoever gives the order, read by the data thread. */
  private volatile int dropEvery;
  /* By side, since the last that was dropped on purpose. The data thread's. */
  private final int[] passed = new int[2];

  /**
   * @param slot in the status file
   * @param flows into fabric a and b; null where nothing goes
   * @param counters of packets from fabric a and b
   * @param pgm reads its packets; null where nobody does
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

  /** Frees what it sent by. Nobody sends by it any more. */
  void retireWays(List<FabricPort> fabrics) {
    for (int side = 0; side < flows.length; side++) {
      LimitedFlow flow = flows[side];
      if (flow != null) {
        fabrics.get(side).retire(flow.way());
      }
    }
  }

  FlowDirection direction() {
    return settings.direction();
  }

  /** The packets that come from this side; null where the group doesn't go from there. */
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

  /** Whether its suspension hasn't been told of yet. The control thread's. */
  boolean tellsOnce() {
    boolean first = !told;
    told = true;
    return first;
  }

  /** Has one packet of so many be dropped in each direction; 0 for none. Any thread's. */
  void dropOneOf(int every) {
    dropEvery = every;
  }

  /** Whether the next packet from this side is to be dropped on purpose. */
  boolean dropsNext(int side) {
    int every = dropEvery;
    if (every == 0) {
      return false;
    }
    passed[side]++;
    if (passed[side] < every) {
      return false;
    }
    passed[side] = 0;
    return true;
  }

  /** A copy came back. A hundred within a second suspend the group. */
  void copyCame(long nowNs) {
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
