package io.heddle.bridge.status;

import io.heddle.platform.Memory;

/**
 * Counters of one group in one direction, as 64-bit numbers at an address in the status file.
 *
 * <p>Written by the data thread only, except for the rates, which the control thread writes. Other
 * processes read them at any time.
 */
public final class GroupCounters {
  static final int PACKETS = 0;
  static final int BYTES = 1;
  static final int DELAYED = 2;
  static final int PENDING = 3;
  static final int LONGEST_WAIT_NS = 4;
  static final int PACKET_RATE = 5;
  static final int BYTE_RATE = 6;
  static final int ARRIVED = 7;
  private static final int DROPS = 16;

  /** Length of the counters of one direction, without the histogram after them. */
  static final int BYTES_OF_COUNTERS = 512;

  /** Length of the counters of one direction, with the histogram. */
  public static final int BLOCK_BYTES = BYTES_OF_COUNTERS + LatenessHistogram.BYTES;

  private GroupCounters() {}

  static long get(long block, int counter) {
    return Memory.getLong(block + (long) counter * Long.BYTES);
  }

  static void set(long block, int counter, long value) {
    Memory.setLong(block + (long) counter * Long.BYTES, value);
  }

  static void add(long block, int counter, long more) {
    set(block, counter, get(block, counter) + more);
  }

  /** Returns the number of packets dropped for a reason. */
  public static long drops(long block, DropReason reason) {
    return get(block, DROPS + reason.ordinal());
  }

  /** Counts packets received for this group, before any check. */
  public static void arrived(long block, int packets) {
    add(block, ARRIVED, packets);
  }

  /**
   * Counts a packet that left for the other fabric.
   *
   * @param lateNs time since the packet's arrival; counts as 0 if negative, after the clock was set
   *     back
   */
  public static void forwarded(long block, int lengthBytes, long lateNs) {
    add(block, PACKETS, 1);
    add(block, BYTES, lengthBytes);
    LatenessHistogram.record(block + BYTES_OF_COUNTERS, Math.max(0, lateNs));
  }

  /** Counts dropped packets. */
  public static void dropped(long block, DropReason reason, int packets) {
    add(block, DROPS + reason.ordinal(), packets);
  }

  /** Counts a packet queued in the limiter. */
  public static void delayed(long block) {
    add(block, DELAYED, 1);
    add(block, PENDING, 1);
  }

  /**
   * Counts a packet that was moved to the queue of this group's flow from that of a replaced flow.
   */
  public static void requeued(long block) {
    add(block, PENDING, 1);
  }

  /** Counts a packet that leaves the queue. */
  public static void released(long block, long waitedNs) {
    add(block, PENDING, -1);
    if (waitedNs > get(block, LONGEST_WAIT_NS)) {
      set(block, LONGEST_WAIT_NS, waitedNs);
    }
  }

  /** Sets the rates of forwarded packets. Control thread only. */
  public static void rates(long block, long packetsPerSecond, long bytesPerSecond) {
    set(block, PACKET_RATE, packetsPerSecond);
    set(block, BYTE_RATE, bytesPerSecond);
  }

  /** Returns the number of forwarded packets. */
  public static long packets(long block) {
    return get(block, PACKETS);
  }

  /** Returns the number of forwarded bytes. */
  public static long bytes(long block) {
    return get(block, BYTES);
  }
}
