package io.heddle.softroce;

/**
 * What has been sent and not been acknowledged for good: of the sequence numbers {@code
 * [unacknowledged, next)}, those that a soft peer's bitmaps say have arrived, and those that count
 * as lost and are to be sent again. The packets lie in the transmit ring. Under the progress lock.
 */
final class Outstanding {
  /* Later packets of the same train that must have arrived before a missing one counts as lost. */
  private static final int REORDER_PACKETS = 3;

  private final TransmitRing ring;
  private final PsnBits acknowledged = new PsnBits();
  private final PsnBits lost = new PsnBits();
  private long unacknowledged;
  private long next;
  private int acknowledgedCount;
  private int lostCount;
  private long highestAcknowledged;

  Outstanding(TransmitRing ring) {
    this.ring = ring;
  }

  /** Nothing is outstanding, and the next packet has this number. */
  void start(int psn) {
    /* Away from 0, so that numbers below the first one stay positive. */
    unacknowledged = (psn & PacketFormat.PSN_MASK) + (1L << 24);
    highestAcknowledged = unacknowledged - 1;
    stop();
  }

  /** Nothing is outstanding any more. */
  void stop() {
    next = unacknowledged;
    acknowledgedCount = 0;
    acknowledged.clearAll();
    lostCount = 0;
    lost.clearAll();
    ring.clear();
  }

  long unacknowledged() {
    return unacknowledged;
  }

  long next() {
    return next;
  }

  boolean isEmpty() {
    return unacknowledged == next;
  }

  /** Numbers that may be under way: neither known to have arrived nor lost. */
  int inFlight() {
    return (int) (next - unacknowledged) - acknowledgedCount - lostCount;
  }

  boolean anyLost() {
    return lostCount > 0;
  }

  int lostCount() {
    return lostCount;
  }

  boolean isLost(long psn) {
    return lost.get(psn);
  }

  /** Everything below {@code end} has been sent once. */
  void sentTo(long end) {
    next = end;
  }

  /** These, which counted as lost, go out again. */
  void sentAgain(long from, long to) {
    lostCount -= lost.clearRange(from, to);
  }

  /**
   * Everything below {@code to}, which lies ahead of {@link #unacknowledged}, has arrived. The ring
   * keeps its slots until the caller removes them.
   *
   * @return how many of them weren't known to have arrived
   */
  int advance(long to) {
    int fresh = (int) (to - unacknowledged);
    if (acknowledgedCount > 0) {
      int known = acknowledged.clearRange(unacknowledged, to);
      acknowledgedCount -= known;
      fresh -= known;
    }
    if (lostCount > 0) {
      lostCount -= lost.clearRange(unacknowledged, to);
    }
    unacknowledged = to;
    highestAcknowledged = Math.max(highestAcknowledged, to - 1);
    return fresh;
  }

  /**
   * Takes a soft peer's bitmap, whose first word holds the number {@code firstMissing}.
   *
   * @return how many of the numbers weren't known to have arrived
   */
  int takeBitmap(long firstMissing, long address, int words) {
    int news = 0;
    long base = firstMissing & ~63L;
    for (int i = 0; i < words; i++) {
      long from = Math.max(base + 64L * i, unacknowledged);
      long to = Math.min(base + 64L * (i + 1), next);
      if (from >= to) {
        continue;
      }
      long fresh =
          PacketFormat.networkLong(address + 8L * i)
              & PsnBits.mask(from, to)
              & ~acknowledged.word(from);
      if (fresh != 0) {
        news += Long.bitCount(fresh);
        acknowledged.setWord(from, acknowledged.word(from) | fresh);
        lostCount -= Long.bitCount(lost.word(from) & fresh);
        lost.setWord(from, lost.word(from) & ~fresh);
        highestAcknowledged =
            Math.max(highestAcknowledged, (from & ~63L) + 63 - Long.numberOfLeadingZeros(fresh));
      }
    }
    acknowledgedCount += news;
    return news;
  }

  /** Counts these packets of a slot as lost. */
  void losePackets(long slot, int from, int to) {
    for (int i = from; i < to; i++) {
      lose(ring.firstPsn(slot) + i);
    }
  }

  private void lose(long psn) {
    if (!lost.get(psn)) {
      lost.set(psn);
      lostCount++;
    }
  }

  /**
   * Counts as lost what a bitmap shows as missing: of trains sent once, packets with some later
   * ones arrived; of trains that were sent again, everything once that sending or a later one has
   * been answered.
   *
   * @param answered number of the newest sending that has been answered
   * @return whether there was any
   */
  boolean loseMissing(long answered) {
    boolean found = false;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long first = ring.firstPsn(slot);
      if (first + REORDER_PACKETS > highestAcknowledged) {
        break;
      }
      if (ring.isRead(slot) || ring.sends(slot) > 1 && ring.serial(slot) > answered) {
        continue;
      }
      long from = Math.max(first, unacknowledged);
      long to = Math.min(first + ring.packets(slot), highestAcknowledged - REORDER_PACKETS + 1);
      for (long psn = from; psn < to; psn++) {
        if (!acknowledged.get(psn) && !lost.get(psn)) {
          lose(psn);
          found = true;
        }
      }
    }
    return found;
  }

  /** Counts as lost everything from this number on that isn't known to have arrived. */
  void loseFrom(long psn) {
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      if (!ring.isRead(slot)) {
        loseUnacknowledged(slot, psn);
      }
    }
  }

  /**
   * Counts as lost what was sent before a question that has been answered, and isn't known to have
   * arrived.
   *
   * @return whether there was any
   */
  boolean loseSentBefore(long serial) {
    int before = lostCount;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      if (!ring.isRead(slot) && ring.serial(slot) < serial) {
        loseUnacknowledged(slot, unacknowledged);
      }
    }
    return lostCount > before;
  }

  private void loseUnacknowledged(long slot, long from) {
    long end = ring.endPsn(slot);
    for (long psn = Math.max(ring.firstPsn(slot), from); psn < end; psn++) {
      if (!acknowledged.get(psn)) {
        lose(psn);
      }
    }
  }
}
