package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketFormat;

/**
 * Slots of 64 KiB, each with one train of finished packets: staging buffer and retransmit buffer in
 * one. A slot is free again when its last packet has been acknowledged; until then its bytes stay
 * valid as sent, and a resend starts at any packet boundary inside it. Under the progress lock.
 */
public final class TransmitRing {
  public static final int SLOT_BYTES = 1 << 16;

  /** 64 slots hold more than a window of full trains at every MTU. */
  public static final int SLOTS = 64;

  /** Bytes of all slots. */
  public static final int AREA_BYTES = SLOTS * SLOT_BYTES;

  private static final int MASK = SLOTS - 1;

  /* Rows that there are before more trains are under way; a power of two. */
  private static final int FIRST_ROWS = 8;

  /* 4 MiB of trains: 20 are too few. */
  private static final int TRAINS_OF_REST = 64;

  private final long base;
  private int mask = FIRST_ROWS - 1;
  private long[] firstPsn = new long[FIRST_ROWS];
  private int[] packets = new int[FIRST_ROWS];
  private int[] psnSpan = new int[FIRST_ROWS];
  private int[] segmentBytes = new int[FIRST_ROWS];
  private int[] totalBytes = new int[FIRST_ROWS];
  private long[] sentAtNs = new long[FIRST_ROWS];
  private int[] sends = new int[FIRST_ROWS];
  private long[] serials = new long[FIRST_ROWS];
  private byte[] links = new byte[FIRST_ROWS];
  private boolean[] lent = new boolean[FIRST_ROWS];
  private boolean[] guest = new boolean[FIRST_ROWS];
  private boolean[] inOne = new boolean[FIRST_ROWS];
  /* Which memory a slot has: of the first area below SLOTS, else of the second. */
  private byte[] memory = new byte[FIRST_ROWS];
  private final LargeTrains trains;
  private final RingShares shares;
  private int largeUnderWay;
  private boolean inSecondArea;
  /* Free memory that the kernel copied is used again first, while it is in this processor's cache: a stack. */
  private final byte[] free = new byte[SLOTS];
  private int freeCount;
  /* What was lent waits in a queue until the device has lent so many more trains that it has left the cache of the
  processor that read it. More memory than that takes would be in no cache. */
  private final byte[] read = new byte[SLOTS];
  private long[] lentAt = {};
  private int readHead;
  private int readTail;
  private boolean takesRead;
  private long head;
  private long tail;

  /**
   * @param base address of two areas of {@link #AREA_BYTES}: the first until a train has been lent,
   *     the second from then on
   * @param trains of the whole device
   * @param shares of all its rings
   */
  public TransmitRing(long base, LargeTrains trains, RingShares shares) {
    this.base = base;
    this.trains = trains;
    this.shares = shares;
    clear();
  }

  public long head() {
    return head;
  }

  public long tail() {
    return tail;
  }

  public boolean isEmpty() {
    return tail == head;
  }

  public boolean isFull() {
    return tail - head == SLOTS;
  }

  /** Whether as many large trains are under way as the ring may have beside those of others. */
  public boolean hasItsShare() {
    return largeUnderWay >= shares.each();
  }

  public void clear() {
    if (largeUnderWay > 0) {
      largeUnderWay = 0;
      shares.ends();
    }
    head = 0;
    tail = 0;
    readHead = 0;
    readTail = 0;
    freeArea();
  }

  private void freeArea() {
    int last = inSecondArea ? 2 * SLOTS - 1 : SLOTS - 1;
    freeCount = SLOTS;
    for (int i = 0; i < SLOTS; i++) {
      free[i] = (byte) (last - i);
    }
  }

  /** Where the next train is to be built. Not to be called when the ring is full. */
  public long nextAddress() {
    takesRead = readTail != readHead && (freeCount == 0 || hasRested(read[readHead & MASK]));
    return base + (long) (takesRead ? read[readHead & MASK] : free[freeCount - 1]) * SLOT_BYTES;
  }

  private boolean hasRested(int each) {
    return trains.lent() - lentAt[each] >= TRAINS_OF_REST;
  }

  /** Where slot {@code index} begins. */
  public long address(long index) {
    return base + (long) memory[(int) index & mask] * SLOT_BYTES;
  }

  /**
   * Enters the train that was built at {@link #nextAddress}.
   *
   * @param span how many sequence numbers it takes: the packets, or a read's responses
   */
  public void add(long psn, int packetCount, int span, int bytesOfSegment, int bytesInTotal) {
    if (tail - head > mask) {
      grow();
    }
    int row = (int) tail & mask;
    firstPsn[row] = psn;
    packets[row] = packetCount;
    psnSpan[row] = span;
    segmentBytes[row] = bytesOfSegment;
    totalBytes[row] = bytesInTotal;
    sends[row] = 0;
    lent[row] = false;
    guest[row] = false;
    inOne[row] = false;
    memory[row] = takesRead ? read[readHead++ & MASK] : free[--freeCount];
    if (bytesInTotal >= LargeTrains.LEAST_BYTES && largeUnderWay++ == 0) {
      shares.begins();
    }
    tail++;
  }

  /* More trains are under way than ever before. */
  private void grow() {
    int wide = 2 * (mask + 1);
    int first = (int) head & mask;
    int to = (int) head & wide - 1;
    firstPsn = (long[]) grown(firstPsn, new long[wide], first, to);
    packets = (int[]) grown(packets, new int[wide], first, to);
    psnSpan = (int[]) grown(psnSpan, new int[wide], first, to);
    segmentBytes = (int[]) grown(segmentBytes, new int[wide], first, to);
    totalBytes = (int[]) grown(totalBytes, new int[wide], first, to);
    sentAtNs = (long[]) grown(sentAtNs, new long[wide], first, to);
    sends = (int[]) grown(sends, new int[wide], first, to);
    serials = (long[]) grown(serials, new long[wide], first, to);
    links = (byte[]) grown(links, new byte[wide], first, to);
    lent = (boolean[]) grown(lent, new boolean[wide], first, to);
    guest = (boolean[]) grown(guest, new boolean[wide], first, to);
    inOne = (boolean[]) grown(inOne, new boolean[wide], first, to);
    memory = (byte[]) grown(memory, new byte[wide], first, to);
    mask = wide - 1;
  }

  /* The full ring of the old rows, whose oldest is the first, in the new ones, where it is at that place. */
  private Object grown(Object old, Object wide, int first, int to) {
    int behind = mask + 1 - first;
    System.arraycopy(old, first, wide, to, behind);
    System.arraycopy(old, 0, wide, to + behind & 2 * mask + 1, first);
    return wide;
  }

  public void removeHead() {
    int row = (int) head & mask;
    /* No train is built in the first area again once the second is used. */
    if (memory[row] >= SLOTS == inSecondArea) {
      if (lent[row]) {
        read[readTail++ & MASK] = memory[row];
      } else {
        free[freeCount++] = memory[row];
      }
    }
    if (totalBytes[row] >= LargeTrains.LEAST_BYTES && --largeUnderWay == 0) {
      shares.ends();
    }
    head++;
  }

  public long firstPsn(long index) {
    return firstPsn[(int) index & mask];
  }

  /** First sequence number after the slot's. */
  public long endPsn(long index) {
    return firstPsn[(int) index & mask] + psnSpan[(int) index & mask];
  }

  /** Whether the slot holds a READ request, whose numbers are its responses'. */
  public boolean isRead(long index) {
    return PacketFormat.opcode(address(index)) == PacketFormat.READ_REQUEST;
  }

  public int packets(long index) {
    return packets[(int) index & mask];
  }

  public int segmentBytes(long index) {
    return segmentBytes[(int) index & mask];
  }

  public int totalBytes(long index) {
    return totalBytes[(int) index & mask];
  }

  public long sentAtNs(long index) {
    return sentAtNs[(int) index & mask];
  }

  public int sends(long index) {
    return sends[(int) index & mask];
  }

  /** The number of the slot's newest sending, in part or whole. */
  public long serial(long index) {
    return serials[(int) index & mask];
  }

  /** The link that the slot's newest sending went by. */
  public int link(long index) {
    return links[(int) index & mask];
  }

  public void sent(long index, int link, long serial, long nowNs) {
    links[(int) index & mask] = (byte) link;
    sentAtNs[(int) index & mask] = nowNs;
    serials[(int) index & mask] = serial;
    sends[(int) index & mask]++;
  }

  /** The kernel reads the slot's bytes where they lie. */
  public void lent(long index) {
    int row = (int) index & mask;
    lent[row] = true;
    if (lentAt.length == 0) {
      lentAt = new long[2 * SLOTS];
    }
    lentAt[memory[row]] = trains.lent();
    if (!inSecondArea) {
      inSecondArea = true;
      freeArea();
    }
  }

  /** The slot's packets leave by another queue pair's socket. */
  public void asGuest(long index) {
    guest[(int) index & mask] = true;
  }

  /** Whether they did, when they were sent for the first time. */
  public boolean wasGuest(long index) {
    return guest[(int) index & mask];
  }

  /** Several of the slot's packets left as one datagram, or each by itself, last. */
  public void inOne(long index, boolean is) {
    inOne[(int) index & mask] = is;
  }

  /** Whether they left as one datagram. */
  public boolean wasInOne(long index) {
    return inOne[(int) index & mask];
  }

  /** Whether large trains are under way. */
  public boolean hasLarge() {
    return largeUnderWay > 0;
  }

  /** Whether it does. */
  public boolean isLent(long index) {
    return lent[(int) index & mask];
  }

  /** What {@link #sent} was told of has not left. */
  public void unsent(long index) {
    sends[(int) index & mask]--;
  }

  /** The newest slot that begins at or before this sequence number, which must be outstanding. */
  public long slotOf(long psn) {
    long low = head;
    long high = tail - 1;
    while (low < high) {
      long middle = (low + high + 1) >>> 1;
      if (firstPsn(middle) <= psn) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
}
