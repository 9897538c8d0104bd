package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.multicast.FlowDirection;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.pgm.PgmObserver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Multicast group that the bridge forwards: its settings, its paths into both fabrics, and its
 * counters. Created on the control path; its mutable state belongs to the data thread, except where
 * noted.
 */
final class BridgedGroup {
  /**
   * Number of returned packets within a second at which the group is suspended. A packet is
   * returned if it comes back after the bridge has sent it.
   */
  static final int MOST_COPIES = 100;

  private static final long SECOND_NS = 1_000_000_000L;

  private final GroupSettings settings;
  private final int slot;
  private final @Nullable LimitedFlow[] flows;
  private final long[] counters;
  private final @Nullable PgmObserver pgm;
  private int copies;
  private long copiesSinceNs;
  /* Written by the data thread; the control thread reads it to report the suspension. */
  private volatile boolean suspended;
  /* Used by the control thread only. */
  private boolean reported;
  /*
   * One of this many packets is dropped on purpose; 0 for none. Written by the thread that handles
   * the operator's order, read by the data thread.
   */
  private volatile int dropEvery;
  /* Number of packets from fabric a and from fabric b since one was last dropped on purpose. */
  private final int[] packetsSinceDrop = new int[2];

  /**
   * @param slot index of the group in the status file
   * @param flows flow into fabric a and flow into fabric b; null for a fabric into which no packets
   *     are forwarded
   * @param counters addresses of the counters of packets from fabric a and from fabric b
   * @param pgm observer of the group's PGM packets; null for none
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

  /** Frees the group's send paths. No thread may send through them any more. */
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

  /** Returns the flow of packets that come from a fabric; null if they aren't forwarded. */
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

  /**
   * Returns true on the first call only, so that a suspension is reported once. Control thread
   * only.
   */
  boolean takeFirstReport() {
    boolean first = !reported;
    reported = true;
    return first;
  }

  /** Sets that one of this many packets is dropped in each direction; 0 for none. Thread-safe. */
  void dropOneOf(int every) {
    dropEvery = every;
  }

  /** Counts a packet from a fabric, and returns whether it is dropped on purpose. */
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

  /**
   * Counts a packet that came back after the bridge had sent it. {@link #MOST_COPIES} such packets
   * within a second suspend the group.
   */
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
