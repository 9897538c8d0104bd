package io.heddle.reorder;

/**
 * Window of messages whose chunks arrive in any order and which complete in order.
 *
 * <p>A window has a power-of-two number of slots. A slot holds one group of up to eight receives.
 * The message of a receive is cut into up to 64 numbered chunks, which arrive in any order. A group
 * is full when all chunks of all its receives have arrived. Groups are opened and released in
 * order. Each slot has a generation of four bits, which distinguishes a late chunk of an earlier
 * group from the chunks of the present one.
 *
 * <p>The window holds no data: the device writes chunks to the receives' memory, and the window
 * only counts them. Only the thread that drives the communicator uses it. After construction, the
 * window allocates memory only when a group has more receives than any before.
 */
public final class ReorderWindow {
  public static final int MAX_RECEIVES = 8;
  public static final int MAX_CHUNKS = 64;
  public static final int GENERATIONS = 16;

  /** Result for a new chunk. */
  public static final int ACCEPTED = 0;

  /** Result for a new chunk that completes its group. */
  public static final int GROUP_FULL = 1;

  /**
   * Result for a chunk that has arrived already, or that belongs to an earlier group of its slot;
   * nothing changed.
   */
  public static final int DUPLICATE = 2;

  /**
   * Result for numbers that are out of range or contradict those of earlier chunks: a fault of the
   * peer; nothing changed.
   */
  public static final int CONTRADICTION = 3;

  private final int slotMask;
  /*
   * State by receive and slot. Most groups have one receive, so the arrays of further receives are
   * allocated on demand.
   */
  private final long[][] arrived = new long[MAX_RECEIVES][];
  private final byte[][] chunkCounts = new byte[MAX_RECEIVES][];
  private final long[][] lengths = new long[MAX_RECEIVES][];
  private int receivesKnown;
  private final byte[] generations;
  private final byte[] receiveCounts;
  private final byte[] receivesMissing;

  /* Number of the oldest group that isn't released yet. */
  private long oldest;
  /* Number of the group that is opened next. */
  private long next;

  /**
   * Creates a window.
   *
   * @param slots largest number of open groups; a power of two
   */
  public ReorderWindow(int slots) {
    if (Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("slots must be a power of two, not " + slots);
    }
    slotMask = slots - 1;
    generations = new byte[slots];
    receiveCounts = new byte[slots];
    receivesMissing = new byte[slots];
    makeRoom(1);
  }

  private void makeRoom(int receives) {
    for (; receivesKnown < receives; receivesKnown++) {
      arrived[receivesKnown] = new long[slotMask + 1];
      chunkCounts[receivesKnown] = new byte[slotMask + 1];
      lengths[receivesKnown] = new long[slotMask + 1];
    }
  }

  /** Returns whether another group can be opened. */
  public boolean hasRoom() {
    return next - oldest <= slotMask;
  }

  /**
   * Returns the number of the group that {@link #open} opens next; its slot is this number modulo
   * the number of slots.
   */
  public long nextGroup() {
    return next;
  }

  /** Returns the number of the oldest open group; {@link #nextGroup} if there is none. */
  public long oldestGroup() {
    return oldest;
  }

  public int slotOf(long group) {
    return (int) group & slotMask;
  }

  /**
   * Returns the generation of the slot's open group, 0 to 15; if there is none, that of its next
   * group.
   */
  public int generation(int slot) {
    return generations[slot];
  }

  /**
   * Opens the next group. There must be room.
   *
   * @param receives 1 to 8
   * @return the slot
   */
  public int open(int receives) {
    int slot = slotOf(next);
    if (receives > receivesKnown) {
      makeRoom(receives);
    }
    next++;
    receiveCounts[slot] = (byte) receives;
    receivesMissing[slot] = (byte) receives;
    for (int receive = 0; receive < receives; receive++) {
      arrived[receive][slot] = 0;
      chunkCounts[receive][slot] = 0;
      lengths[receive][slot] = 0;
    }
    return slot;
  }

  /**
   * Records the arrival of one chunk. All numbers come from the peer and may be anything.
   *
   * @param chunk number of the chunk, from 0
   * @param chunks number of chunks of the message, 1 to 64
   * @param lengthBytes bytes in this chunk
   * @return {@link #ACCEPTED}, {@link #GROUP_FULL}, {@link #DUPLICATE} or {@link #CONTRADICTION}
   */
  public int record(int slot, int generation, int receive, int chunk, int chunks, int lengthBytes) {
    if (slot < 0
        || slot > slotMask
        || chunks < 1
        || chunks > MAX_CHUNKS
        || chunk < 0
        || chunk >= chunks) {
      return CONTRADICTION;
    }
    if (generations[slot] != generation || receiveCounts[slot] == 0) {
      return DUPLICATE;
    }
    if (receive < 0 || receive >= receiveCounts[slot] || lengthBytes < 0) {
      return CONTRADICTION;
    }
    if (chunkCounts[receive][slot] != 0 && chunkCounts[receive][slot] != chunks) {
      return CONTRADICTION;
    }
    long bit = 1L << chunk;
    if ((arrived[receive][slot] & bit) != 0) {
      return DUPLICATE;
    }
    chunkCounts[receive][slot] = (byte) chunks;
    arrived[receive][slot] |= bit;
    lengths[receive][slot] += lengthBytes;
    if (Long.bitCount(arrived[receive][slot]) < chunks) {
      return ACCEPTED;
    }
    receivesMissing[slot]--;
    return receivesMissing[slot] == 0 ? GROUP_FULL : ACCEPTED;
  }

  /** Returns whether this open group is complete. */
  public boolean isFull(long group) {
    return receivesMissing[slotOf(group)] == 0;
  }

  public int receives(int slot) {
    return receiveCounts[slot];
  }

  /** Returns the bytes that have arrived for one receive. */
  public long lengthBytes(int slot, int receive) {
    return lengths[receive][slot];
  }

  /** Returns the arrived chunks of one receive, bit i for chunk i. */
  public long arrivedChunks(int slot, int receive) {
    return arrived[receive][slot];
  }

  /**
   * Returns the distance of a chunk from the first missing chunk of its message; 0 for a chunk
   * before that.
   */
  public int aheadOfGap(int slot, int receive, int chunk) {
    return Math.max(0, chunk - Long.numberOfTrailingZeros(~arrivedChunks(slot, receive)));
  }

  /**
   * Returns the number of chunks of one receive's message; 0 before its first chunk has arrived.
   */
  public int chunkCount(int slot, int receive) {
    return chunkCounts[receive][slot];
  }

  /**
   * Releases the oldest group, which must be full. Its slot can be used again, with the next
   * generation.
   */
  public void releaseOldest() {
    int slot = slotOf(oldest);
    oldest++;
    receiveCounts[slot] = 0;
    generations[slot] = (byte) ((generations[slot] + 1) & (GENERATIONS - 1));
  }
}
