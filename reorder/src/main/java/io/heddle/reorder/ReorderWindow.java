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
 * that drives the communicator; allocates nothing after construction.
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
  private final long[] arrived;
  private final byte[] chunkCounts;
  private final long[] lengths;
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
    arrived = new long[slots * MAX_RECEIVES];
    chunkCounts = new byte[slots * MAX_RECEIVES];
    lengths = new long[slots * MAX_RECEIVES];
    generations = new byte[slots];
    receiveCounts = new byte[slots];
    receivesMissing = new byte[slots];
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
    next++;
    receiveCounts[slot] = (byte) receives;
    receivesMissing[slot] = (byte) receives;
    int base = slot * MAX_RECEIVES;
    for (int receive = 0; receive < receives; receive++) {
      arrived[base + receive] = 0;
      chunkCounts[base + receive] = 0;
      lengths[base + receive] = 0;
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
    int index = slot * MAX_RECEIVES + receive;
    if (chunkCounts[index] != 0 && chunkCounts[index] != chunks) {
      return CONTRADICTION;
    }
    long bit = 1L << chunk;
    if ((arrived[index] & bit) != 0) {
      return DUPLICATE;
    }
    chunkCounts[index] = (byte) chunks;
    arrived[index] |= bit;
    lengths[index] += lengthBytes;
    if (Long.bitCount(arrived[index]) < chunks) {
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
    return lengths[slot * MAX_RECEIVES + receive];
  }

  /** The chunks of one receive that have arrived, bit i for chunk i. */
  public long arrivedChunks(int slot, int receive) {
    return arrived[slot * MAX_RECEIVES + receive];
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
    return chunkCounts[slot * MAX_RECEIVES + receive];
  }

  /** Releases the oldest group, which must be full: its slot moves on to the next generation. */
  public void releaseOldest() {
    int slot = slotOf(oldest);
    oldest++;
    receiveCounts[slot] = 0;
    generations[slot] = (byte) ((generations[slot] + 1) & (GENERATIONS - 1));
  }
}
