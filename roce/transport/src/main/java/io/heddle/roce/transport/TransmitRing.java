package io.heddle.roce.transport;

import io.heddle.roce.wire.PacketFormat;

/**
 * Ring of 64 KiB slots, each with one train of finished packets. It is both staging and retransmit
 * buffer. A slot is freed once its last packet is acknowledged. Until then its bytes stay as sent,
 * and a retransmission can start at any of its packets. Used under the progress lock.
 */
public final class TransmitRing {
  public static final int SLOT_BYTES = 1 << 16;

  /**
   * Number of slots. It is larger than the number of full trains in the largest window, at any MTU.
   */
  public static final int SLOTS = 64;

  /** Length of all slots, in bytes. */
  public static final int AREA_BYTES = SLOTS * SLOT_BYTES;

  private static final int MASK = SLOTS - 1;

  /* Initial size of the tables, which have a row for each outstanding train; a power of two. */
  private static final int FIRST_ROWS = 8;

  /*
   * Number of further trains, 4 MiB in all, that must be sent before a zero-copy block is reused;
   * 20 trains are too few.
   */
  private static final int TRAINS_BEFORE_REUSE = 64;

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
  private boolean[] zeroCopy = new boolean[FIRST_ROWS];
  private boolean[] bundled = new boolean[FIRST_ROWS];
  private boolean[] sentAsTrain = new boolean[FIRST_ROWS];
  /*
   * Number of each slot's memory block. Numbers below SLOTS are in the first area, others in the
   * second.
   */
  private byte[] memory = new byte[FIRST_ROWS];
  private final LargeTrains trains;
  private final RingShares shares;
  private int largeOutstanding;
  private boolean inSecondArea;
  /*
   * Free blocks that the kernel has copied from. They form a stack, so that a block is reused while
   * it is in this processor's cache.
   */
  private final byte[] free = new byte[SLOTS];
  private int freeCount;
  /*
   * Blocks of acknowledged zero-copy trains. They wait in a queue until the device has sent enough
   * further trains to evict them from the cache of the processor that read them. A longer queue
   * would use memory that is in no cache.
   */
  private final byte[] read = new byte[SLOTS];
  private long[] zeroCopyCount = {};
  private int readHead;
  private int readTail;
  private boolean isNextRead;
  private long head;
  private long tail;

  /**
   * @param base address of two areas of {@link #AREA_BYTES} bytes each. The first is used until a
   *     zero-copy train is sent, the second from then on
   * @param trains counters of the whole device
   * @param shares limit that all the device's transmit rings share
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

  /** Returns whether the ring has reached its share of outstanding large trains. */
  public boolean hasFullShare() {
    return largeOutstanding >= shares.share();
  }

  public void clear() {
    if (largeOutstanding > 0) {
      largeOutstanding = 0;
      shares.removeRing();
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

  /** Returns the address for the next train. The ring must not be full. */
  public long nextAddress() {
    isNextRead = readTail != readHead && (freeCount == 0 || isReusable(read[readHead & MASK]));
    return base + (long) (isNextRead ? read[readHead & MASK] : free[freeCount - 1]) * SLOT_BYTES;
  }

  private boolean isReusable(int each) {
    return trains.zeroCopy() - zeroCopyCount[each] >= TRAINS_BEFORE_REUSE;
  }

  /** Returns the address of slot {@code index}. */
  public long address(long index) {
    return base + (long) memory[(int) index & mask] * SLOT_BYTES;
  }

  /**
   * Adds the train that was built at {@link #nextAddress}.
   *
   * @param span number of sequence numbers that the train uses: one per packet, or for a READ
   *     request one per response
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
    zeroCopy[row] = false;
    bundled[row] = false;
    sentAsTrain[row] = false;
    memory[row] = isNextRead ? read[readHead++ & MASK] : free[--freeCount];
    if (bytesInTotal >= LargeTrains.LEAST_BYTES && largeOutstanding++ == 0) {
      shares.addRing();
    }
    tail++;
  }

  /* Doubles the tables, since each of their rows has an outstanding train. */
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
    zeroCopy = (boolean[]) grown(zeroCopy, new boolean[wide], first, to);
    bundled = (boolean[]) grown(bundled, new boolean[wide], first, to);
    sentAsTrain = (boolean[]) grown(sentAsTrain, new boolean[wide], first, to);
    memory = (byte[]) grown(memory, new byte[wide], first, to);
    mask = wide - 1;
  }

  /*
   * Copies one column of the full table to a larger array. The oldest row moves from position first
   * to position to.
   */
  private Object grown(Object old, Object wide, int first, int to) {
    int behind = mask + 1 - first;
    System.arraycopy(old, first, wide, to, behind);
    System.arraycopy(old, 0, wide, to + behind & 2 * mask + 1, first);
    return wide;
  }

  public void removeHead() {
    int row = (int) head & mask;
    /* The first area isn't reused once the second is in use. */
    if (memory[row] >= SLOTS == inSecondArea) {
      if (zeroCopy[row]) {
        read[readTail++ & MASK] = memory[row];
      } else {
        free[freeCount++] = memory[row];
      }
    }
    if (totalBytes[row] >= LargeTrains.LEAST_BYTES && --largeOutstanding == 0) {
      shares.removeRing();
    }
    head++;
  }

  public long firstPsn(long index) {
    return firstPsn[(int) index & mask];
  }

  /** Returns the first sequence number after the slot's own. */
  public long endPsn(long index) {
    return firstPsn[(int) index & mask] + psnSpan[(int) index & mask];
  }

  /**
   * Returns whether the slot has a READ request. The slot's sequence numbers are then those of the
   * READ's responses.
   */
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

  /** Returns the payload bytes of a slot. An immediate may count as four bytes of payload. */
  public int payloadBytes(long index) {
    return totalBytes(index) - packets(index) * PacketFormat.WRITE_ONLY_BYTES;
  }

  public long sentAtNs(long index) {
    return sentAtNs[(int) index & mask];
  }

  public int sends(long index) {
    return sends[(int) index & mask];
  }

  /** Returns the serial number of the slot's newest transmission, partial or whole. */
  public long serial(long index) {
    return serials[(int) index & mask];
  }

  /** Returns the link of the slot's newest transmission. */
  public int link(long index) {
    return links[(int) index & mask];
  }

  public void recordSent(long index, int link, long serial, long nowNs) {
    links[(int) index & mask] = (byte) link;
    sentAtNs[(int) index & mask] = nowNs;
    serials[(int) index & mask] = serial;
    sends[(int) index & mask]++;
  }

  /** Marks the slot as zero-copy: the kernel reads its memory. */
  public void markZeroCopy(long index) {
    int row = (int) index & mask;
    zeroCopy[row] = true;
    if (zeroCopyCount.length == 0) {
      zeroCopyCount = new long[2 * SLOTS];
    }
    zeroCopyCount[memory[row]] = trains.zeroCopy();
    if (!inSecondArea) {
      inSecondArea = true;
      freeArea();
    }
  }

  /** Marks the slot as sent through another queue pair's socket. */
  public void markBundled(long index) {
    bundled[(int) index & mask] = true;
  }

  /** Returns whether the slot's first transmission used another queue pair's socket. */
  public boolean wasBundled(long index) {
    return bundled[(int) index & mask];
  }

  /** Records whether the last transmission sent several packets as one datagram. */
  public void setSentAsTrain(long index, boolean is) {
    sentAsTrain[(int) index & mask] = is;
  }

  /** Returns whether the last transmission sent several packets as one datagram. */
  public boolean wasSentAsTrain(long index) {
    return sentAsTrain[(int) index & mask];
  }

  /** Returns whether large trains are outstanding. */
  public boolean hasLarge() {
    return largeOutstanding > 0;
  }

  /** Returns whether the slot's train was sent without a copy. */
  public boolean isZeroCopy(long index) {
    return zeroCopy[(int) index & mask];
  }

  /** Undoes {@link #recordSent}: the transmission failed. */
  public void undoSent(long index) {
    sends[(int) index & mask]--;
  }

  /**
   * Returns the newest slot that begins at or before this sequence number, which must be
   * outstanding.
   */
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
