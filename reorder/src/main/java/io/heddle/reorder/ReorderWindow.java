package io.heddle.reorder;

/**
 * Which chunks of which messages have arrived, and which message may complete next.
 *
 * <p>A window has a power-of-two number of slots; a slot holds one group of up to eight receives; a
 * receive is cut into up to 64 chunks that arrive in any order, told apart by their number. A group
 * is full when every receive of it is. Groups are opened in order and released in order. A
 * generation of four bits per slot tells a late chunk of an earlier use from one of the present
 * use.
 *
 * <p>No data is held: chunks are placed by the device, this only counts them. Owned by the thread
 * that drives the communicator; after construction it allocates with the first group of so many
 * receives.
 */
public final class ReorderWindow {
  public static final int MAX_RECEIVES = 8;
  public static final int MAX_CHUNKS = 64;
  public static final int GENERATIONS = 16;

  /** The chunk was new. */
  public static final int ACCEPTED = 0;

  /** The chunk was new, and with it its group is full. */
  public static final int GROUP_FULL = 1;

  /** The chunk had arrived before, or belongs to an earlier use of its slot; nothing changed. */
  public static final int DUPLICATE = 2;

  /** The numbers contradict what is known of the message: a fault of the peer; nothing changed. */
  public static final int CONTRADICTION = 3;

  private final int slotMask;
  /* By receive, then by slot. Groups of one receive are the rule: what others need is there once there is one. */
  private final long[][] arrived = new long[MAX_RECEIVES][];
  private final byte[][] chunkCounts = new byte[MAX_RECEIVES][];
  private final long[][] lengths = new long[MAX_RECEIVES][];
  private int receivesKnown;
  private final byte[] generations;
  private final byte[] receiveCounts;
  private final byte[] receivesMissing;

  /* Group numbers: first not yet released, and next to be opened. */
  private long oldest;
  private long next;

  /**
   * @param slots groups that may be open at a time; a power of two
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

  /** Whether another group can be opened. */
  public boolean hasRoom() {
    return next - oldest <= slotMask;
  }

  /**
   * Number of the group that {@link #open} opens next; its slot is this number modulo the number of
   * slots.
   */
  public long nextGroup() {
    return next;
  }

  /** Number of the oldest group that is open; equal to {@link #nextGroup} when none is. */
  public long oldestGroup() {
    return oldest;
  }

  public int slotOf(long group) {
    return (int) group & slotMask;
  }

  /** Generation of the slot's present or next use, 0 to 15. */
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
   * Notes the arrival of one chunk. All numbers are the peer's and may be anything.
   *
   * @param chunk number of the chunk, from 0
   * @param chunks how many chunks the message has, 1 to 64
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

  /** Whether this open group has everything. */
  public boolean isFull(long group) {
    return receivesMissing[slotOf(group)] == 0;
  }

  public int receives(int slot) {
    return receiveCounts[slot];
  }

  /** Bytes that have arrived for one receive. */
  public long lengthBytes(int slot, int receive) {
    return lengths[receive][slot];
  }

  /** The chunks of one receive that have arrived, bit i for chunk i. */
  public long arrivedChunks(int slot, int receive) {
    return arrived[receive][slot];
  }

  /**
   * How many chunks a chunk is ahead of its message's first one that is missing; 0 for one before
   * it.
   */
  public int aheadOfGap(int slot, int receive, int chunk) {
    return Math.max(0, chunk - Long.numberOfTrailingZeros(~arrivedChunks(slot, receive)));
  }

  /** How many chunks one receive has; 0 before its first one has come. */
  public int chunkCount(int slot, int receive) {
    return chunkCounts[receive][slot];
  }

  /** Releases the oldest group, which must be full: its slot moves on to the next generation. */
  public void releaseOldest() {
    int slot = slotOf(oldest);
    oldest++;
    receiveCounts[slot] = 0;
    generations[slot] = (byte) ((generations[slot] + 1) & (GENERATIONS - 1));
  }
}
