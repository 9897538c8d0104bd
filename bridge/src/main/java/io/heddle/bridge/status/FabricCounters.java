package io.heddle.bridge.status;

import io.heddle.platform.Memory;

/**
 * The counters of one fabric that belong to no group, as 64-bit numbers at an address in the status
 * file. The data thread alone writes them, unless said otherwise.
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
  /* The control thread's. */
  static final int QUEUE_PAIR_FAILURES = 9;
  static final int PORT_EVENTS = 10;

  /** Bytes at the address. */
  static final int BLOCK_BYTES = 512;

  private FabricCounters() {}

  static long get(long block, int counter) {
    return Memory.getLong(block + (long) counter * Long.BYTES);
  }

  private static void add(long block, int counter, long more) {
    long at = block + (long) counter * Long.BYTES;
    Memory.setLong(at, Memory.getLong(at) + more);
  }

  /** A train of so many packets came. */
  public static void received(long block, int packets, int lengthBytes) {
    add(block, RECEIVED_TRAINS, 1);
    add(block, RECEIVED_PACKETS, packets);
    add(block, RECEIVED_BYTES, lengthBytes);
  }

  /** Packets to a group that isn't bridged. */
  public static void unknownGroup(long block, int packets) {
    add(block, UNKNOWN_GROUP, packets);
  }

  /** Packets to an address of one host, which aren't bridged. */
  public static void unicast(long block, int packets) {
    add(block, UNICAST, packets);
  }

  /** A datagram without a byte, or one that was cut. */
  public static void empty(long block) {
    add(block, EMPTY, 1);
  }

  /** Datagrams that the kernel dropped in all, since the socket's queue was full. */
  public static void kernelDropped(long block, long inAll) {
    Memory.setLong(block + (long) KERNEL_QUEUE_FULL * Long.BYTES, inAll);
  }

  /** So often a queue pair of libibverbs has failed in all. The control thread's. */
  public static void queuePairFailures(long block, long inAll) {
    Memory.setLong(block + (long) QUEUE_PAIR_FAILURES * Long.BYTES, inAll);
  }

  /** A device of libibverbs told something of itself. The control thread's. */
  public static void portEvent(long block) {
    add(block, PORT_EVENTS, 1);
  }

  /** Messages that were given to the system. */
  public static void sent(long block, int messages) {
    add(block, SENT_MESSAGES, messages);
  }

  /** The system took a train packet by packet only. */
  public static void trainRefused(long block) {
    add(block, TRAINS_REFUSED, 1);
  }
}
