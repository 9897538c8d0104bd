package io.heddle.bridge.status;

import io.heddle.platform.Memory;

/**
 * Counter of one fabric, apart from those of groups: a 64-bit number in a block of the status file.
 * The order of the constants is that in the file. Written by the data thread only, unless noted
 * otherwise.
 */
public enum FabricCounter {
  RECEIVED_PACKETS,
  RECEIVED_BYTES,
  /** Segment trains and single datagrams that the system delivered. */
  RECEIVED_TRAINS,
  /** Packets to groups that aren't bridged. */
  UNKNOWN_GROUP,
  /** Unicast packets that aren't bridged. */
  UNICAST,
  /** Datagrams that the kernel dropped because the socket's queue was full. */
  KERNEL_QUEUE_FULL,
  /** Segment trains and single packets that were passed to the system. */
  SENT_MESSAGES,
  /** Trains that the system didn't send as a whole, but packet by packet. */
  TRAINS_REFUSED,
  /** Datagrams of length 0, and truncated ones. */
  EMPTY,
  /** Failures of libibverbs queue pairs. Written by the control thread. */
  QUEUE_PAIR_FAILURES,
  /** Asynchronous events of a libibverbs device. Written by the control thread. */
  PORT_EVENTS;

  /** Length of the counters of one fabric. */
  static final int BLOCK_BYTES = 512;

  public void add(long block, long more) {
    set(block, get(block) + more);
  }

  public void set(long block, long value) {
    Memory.setLong(block + (long) ordinal() * Long.BYTES, value);
  }

  long get(long block) {
    return Memory.getLong(block + (long) ordinal() * Long.BYTES);
  }

  /** Counts a received train of packets. */
  public static void received(long block, int packets, int lengthBytes) {
    RECEIVED_TRAINS.add(block, 1);
    RECEIVED_PACKETS.add(block, packets);
    RECEIVED_BYTES.add(block, lengthBytes);
  }
}
