package io.heddle.sim.chunks;

import java.util.Arrays;

/** Table of the chunks in flight or waiting for retransmission; slots are reused. */
final class ChunkTable {
  /** No slot. */
  static final int NONE = -1;

  /** Value of {@link #hop}: the chunk has arrived, and its acknowledgement is on its path back. */
  static final byte DELIVERED = 8;

  static final byte ACKNOWLEDGED = 9;
  static final byte TIMED_OUT = 10;

  /** Value for a slot that isn't a chunk but the trial of a connection's plane. */
  static final byte TRIAL = 11;

  private static final int FIRST = 1024;

  int[] connection = new int[FIRST];
  int[] message = new int[FIRST];
  int[] index = new int[FIRST];
  int[] lengthBytes = new int[FIRST];
  int[] spine = new int[FIRST];
  int[] epoch = new int[FIRST];
  /* Link to the next free slot, or to the next slot that the connection retransmits. */
  int[] link = new int[FIRST];
  byte[] plane = new byte[FIRST];
  byte[] hop = new byte[FIRST];
  long[] postedNs = new long[FIRST];
  /* Time at which its last byte leaves the link that it was on last. */
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
