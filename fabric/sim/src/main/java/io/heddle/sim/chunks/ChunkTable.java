package io.heddle.sim.chunks;

import java.util.Arrays;

/**
 * Table of the chunks that are in flight or wait for retransmission. A chunk's data has one index,
 * its slot, in all arrays. Slots are reused.
 */
final class ChunkTable {
  /** Value of a variable that refers to no slot. */
  static final int NONE = -1;

  /** Value of {@link #hop} for a chunk that has arrived and isn't acknowledged yet. */
  static final byte DELIVERED = 8;

  static final byte ACKNOWLEDGED = 9;
  static final byte TIMED_OUT = 10;

  /**
   * Value of {@link #hop} for a slot that isn't a chunk but a trial: a later check whether a
   * connection's plane is up again.
   */
  static final byte TRIAL = 11;

  private static final int FIRST = 1024;

  int[] connection = new int[FIRST];
  int[] message = new int[FIRST];
  int[] index = new int[FIRST];
  int[] lengthBytes = new int[FIRST];
  int[] spine = new int[FIRST];
  int[] epoch = new int[FIRST];
  /*
   * For a free slot: the next free slot. For a slot that waits for retransmission: the next slot to
   * retransmit.
   */
  int[] link = new int[FIRST];
  byte[] plane = new byte[FIRST];
  byte[] hop = new byte[FIRST];
  long[] postedNs = new long[FIRST];
  /*
   * Time in ns at which the chunk's last byte arrives at the end of the link that the chunk entered
   * last.
   */
  double[] tailNs = new double[FIRST];
  private int free = NONE;
  private int used;

  int size() {
    return connection.length;
  }

  int take() {
    if (free != NONE) {
      int slot = free;
      free = link[slot];
      return slot;
    }
    if (used == connection.length) {
      grow(2 * used);
    }
    return used++;
  }

  void release(int slot) {
    link[slot] = free;
    free = slot;
  }

  private void grow(int slots) {
    connection = Arrays.copyOf(connection, slots);
    message = Arrays.copyOf(message, slots);
    index = Arrays.copyOf(index, slots);
    lengthBytes = Arrays.copyOf(lengthBytes, slots);
    spine = Arrays.copyOf(spine, slots);
    epoch = Arrays.copyOf(epoch, slots);
    link = Arrays.copyOf(link, slots);
    plane = Arrays.copyOf(plane, slots);
    hop = Arrays.copyOf(hop, slots);
    postedNs = Arrays.copyOf(postedNs, slots);
    tailNs = Arrays.copyOf(tailNs, slots);
  }
}
