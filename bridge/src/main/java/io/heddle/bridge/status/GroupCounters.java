package io.heddle.bridge.status;

import io.heddle.platform.Memory;

/**
 * The counters of one group in one direction, as 64-bit numbers at an address in the status file.
 *
 * <p>The data thread alone writes them, but for the rates, which the control thread writes. Readers
 * are other processes, and read whenever they like.
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

  /** Of the counters, without the histogram behind them. */
  static final int BYTES_OF_COUNTERS = 512;

  /** Bytes at the address in all. */
  public static final int BLOCK_BYTES = BYTES_OF_COUNTERS + LatenessHistogram.BYTES;

  private GroupCounters() {}

  static long get(long block, int counter) {
    return Memory.getLong(block + (long) counter * Long.BYTES);
  }

  static void set(long block, int counter, long value) {
    Memory.setLong(block + (long) counter * Long.BYTES, value);
  }

  private static void add(long block, int counter, long more) {
    set(block, counter, get(block, counter) + more);
  }

  /** Packets that weren't forwarded for a reason. */
  public static long drops(long block, DropReason reason) {
    return get(block, DROPS + reason.ordinal());
  }

  /** So many packets came from the one fabric for this group. */
  public static void arrived(long block, int packets) {
    add(block, ARRIVED, packets);
  }

  /**
   * A packet left for the other fabric.
   *
   * @param lateNs since it came; a clock that was set back makes it 0
   */
  public static void forwarded(long block, int lengthBytes, long lateNs) {
    add(block, PACKETS, 1);
    add(block, BYTES, lengthBytes);
    LatenessHistogram.record(block + BYTES_OF_COUNTERS, Math.max(0, lateNs));
  }

  /** So many packets weren't forwarded. */
  public static void dropped(long block, DropReason reason, int packets) {
    add(block, DROPS + reason.ordinal(), packets);
  }

  /** A packet waits in the limiter from now on. */
  public static void delayed(long block) {
    add(block, DELAYED, 1);
    add(block, PENDING, 1);
  }

  /** A packet waits in another queue now. */
  public static void stillWaits(long block) {
    add(block, PENDING, 1);
  }

  /** A packet waits no more. */
  public static void released(long block, long waitedNs) {
    add(block, PENDING, -1);
    if (waitedNs > get(block, LONGEST_WAIT_NS)) {
      set(block, LONGEST_WAIT_NS, waitedNs);
    }
  }

  /** How fast packets leave, as the control thread saw it over the last moment. */
  public static void rates(long block, long packetsPerSecond, long bytesPerSecond) {
    set(block, PACKET_RATE, packetsPerSecond);
    set(block, BYTE_RATE, bytesPerSecond);
  }

  /** Packets that left so far. */
  public static long packets(long block) {
    return get(block, PACKETS);
  }

  /** Bytes that left so far. */
  public static long bytes(long block) {
    return get(block, BYTES);
  }
}
