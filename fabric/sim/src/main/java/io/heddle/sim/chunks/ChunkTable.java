package io.heddle.sim.chunks;

import java.util.Arrays;

/** The chunks that are under way or wait to be sent again: a slot each, used again and again. */
final class ChunkTable {
  /** No slot. */
  static final int NONE = -1;

  /** Of {@link #hop}: the chunk is there, and its acknowledgement comes back. */
  static final byte DELIVERED = 8;

  static final byte ACKNOWLEDGED = 9;
  static final byte TIMED_OUT = 10;

  /** No chunk, but a plane of a connection that is to be tried again. */
  static final byte TRIAL = 11;

  private static final int FIRST = 1024;

  int[] connection = new int[FIRST];
  int[] message = new int[FIRST];
  int[] index = new int[FIRST];
  int[] lengthBytes = new int[FIRST];
  int[] spine = new int[FIRST];
  int[] epoch = new int[FIRST];
  /* The next free slot, or the next of those that a connection sends again. */
  int[] link = new int[FIRST];
  byte[] plane = new byte[FIRST];
  byte[] hop = new byte[FIRST];
  long[] postedNs = new long[FIRST];
  /* When its last byte is at the end of the link that it was on last. */
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

  void giveBack(int slot) {
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
