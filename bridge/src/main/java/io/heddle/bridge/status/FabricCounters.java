package io.heddle.bridge.status;

import io.heddle.platform.Memory;

/**
 * Counters of one fabric, apart from those of groups, as 64-bit numbers at an address in the status
 * file. Written by the data thread only, unless noted otherwise.
 */
public final class FabricCounters {
  static final int RECEIVED_PACKETS = 0;
  static final int RECEIVED_BYTES = 1;
  static final int RECEIVED_TRAINS = 2;
  static final int UNKNOWN_GROUP = 3;
  static final int UNICAST = 4;
  static final int KERNEL_QUEUE_FULL = 5;
  static final int SENT_MESSAGES = 6;
  static final int TRAINS_REFUSED = 7;
  static final int EMPTY = 8;
  /* Written by the control thread. */
  static final int QUEUE_PAIR_FAILURES = 9;
  static final int PORT_EVENTS = 10;

  /** Length of the counters of one fabric. */
  static final int BLOCK_BYTES = 512;

  private FabricCounters() {}

  static long get(long block, int counter) {
    return Memory.getLong(block + (long) counter * Long.BYTES);
  }

  private static void add(long block, int counter, long more) {
    long at = block + (long) counter * Long.BYTES;
    Memory.setLong(at, Memory.getLong(at) + more);
  }

  /** Counts a received train of packets. */
  public static void received(long block, int packets, int lengthBytes) {
    add(block, RECEIVED_TRAINS, 1);
    add(block, RECEIVED_PACKETS, packets);
    add(block, RECEIVED_BYTES, lengthBytes);
  }

  /** Counts packets to a group that isn't bridged. */
  public static void unknownGroup(long block, int packets) {
    add(block, UNKNOWN_GROUP, packets);
  }

  /** Counts unicast packets that aren't bridged. */
  public static void unicast(long block, int packets) {
    add(block, UNICAST, packets);
  }

  /** Counts a datagram of length 0, or a truncated one. */
  public static void empty(long block) {
    add(block, EMPTY, 1);
  }

  /** Sets the total of datagrams that the kernel dropped because the socket's queue was full. */
  public static void kernelDropped(long block, long inAll) {
    Memory.setLong(block + (long) KERNEL_QUEUE_FULL * Long.BYTES, inAll);
  }

  /** Sets the total of failures of libibverbs queue pairs. Control thread only. */
  public static void queuePairFailures(long block, long inAll) {
    Memory.setLong(block + (long) QUEUE_PAIR_FAILURES * Long.BYTES, inAll);
  }

  /** Counts an asynchronous event of a libibverbs device. Control thread only. */
  public static void portEvent(long block) {
    add(block, PORT_EVENTS, 1);
  }

  /** Counts messages that were passed to the system: segment trains or single packets. */
  public static void sent(long block, int messages) {
    add(block, SENT_MESSAGES, messages);
  }

  /** Counts a train that the system didn't send as a whole, but packet by packet. */
  public static void trainRefused(long block) {
    add(block, TRAINS_REFUSED, 1);
  }
}
