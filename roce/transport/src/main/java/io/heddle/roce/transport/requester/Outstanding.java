package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * What has been sent and not been acknowledged for good: of the sequence numbers {@code
 * [unacknowledged, next)}, those that a soft peer's bitmaps say have arrived, and those that count
 * as lost and are to be sent again. The packets lie in the transmit ring. Under the progress lock.
 */
final class Outstanding {
  private final TransmitRing ring;
  private final PsnBits acknowledged = new PsnBits();
  private final PsnBits lost = new PsnBits();
  private final LinkNumbers links = new LinkNumbers();
  private long unacknowledged;
  private long next;
  private int acknowledgedCount;
  private int lostCount;
  private long highestAcknowledged;

  Outstanding(TransmitRing ring) {
    this.ring = ring;
  }

  /** Which link each number went by. */
  LinkNumbers links() {
    return links;
  }

  /**
   * Nothing is outstanding, and the next packet has this number and goes by one of so many links.
   */
  void start(int psn, int linkCount) {
    /* Away from 0, so that numbers below the first one stay positive. */
    unacknowledged = (psn & PacketFormat.PSN_MASK) + (1L << 24);
    highestAcknowledged = unacknowledged - 1;
    links.start(linkCount, unacknowledged);
    stop();
  }

  /** Nothing is outstanding any more. */
  void stop() {
    next = unacknowledged;
    acknowledgedCount = 0;
    acknowledged.clearAll();
    lostCount = 0;
    lost.clearAll();
    links.stop();
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

  /** The highest number that is known to have arrived. */
  long highestAcknowledged() {
    return highestAcknowledged;
  }

  /** Of the word of bits that this number is in, those below {@code end} that are under way. */
  long underWayWord(long psn, long end) {
    return PsnBits.mask(psn, end) & ~acknowledged.word(psn) & ~lost.word(psn);
  }

  /** Of a bitmap's word, those in this range that weren't known to have arrived. */
  long toldWord(long from, long to, long address) {
    return PacketFormat.networkLong(address) & PsnBits.mask(from, to) & ~acknowledged.word(from);
  }

  /** Everything below {@code end} has been sent once, what is new by this link. */
  void sentTo(long end, int link) {
    links.sent(next, end, link);
    next = end;
  }

  /** These, which counted as lost or are asked about, go out again by this link. */
  void sentAgain(long from, long to, int link) {
    for (long psn = from; links.several() && psn < to; psn++) {
      if (!acknowledged.get(psn)) {
        links.sentAgain(psn, link, !lost.get(psn));
      }
    }
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
    for (long psn = unacknowledged; links.several() && psn < to; psn++) {
      if (!acknowledged.get(psn)) {
        links.arrived(psn, !lost.get(psn));
      }
    }
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
   * Everything in {@code [from, to)} has arrived, though not all before it is whole.
   *
   * @return how many of them weren't known to have arrived
   */
  int arrived(long from, long to) {
    int news = 0;
    for (long psn = from; psn < to; psn = (psn | 63) + 1) {
      news += take(psn, PsnBits.mask(psn, to) & ~acknowledged.word(psn));
    }
    return news;
  }

  /* These bits of the number's word, which weren't known; returns how many. */
  private int take(long wordOf, long fresh) {
    if (fresh == 0) {
      return 0;
    }
    long base = wordOf & ~63L;
    for (long left = fresh; links.several() && left != 0; left &= left - 1) {
      long psn = base + Long.numberOfTrailingZeros(left);
      links.arrived(psn, !lost.get(psn));
    }
    acknowledged.setWord(base, acknowledged.word(base) | fresh);
    lostCount -= Long.bitCount(lost.word(base) & fresh);
    lost.setWord(base, lost.word(base) & ~fresh);
    highestAcknowledged =
        Math.max(highestAcknowledged, base + 63 - Long.numberOfLeadingZeros(fresh));
    int news = Long.bitCount(fresh);
    acknowledgedCount += news;
    return news;
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
      if (from < to) {
        news += take(from, toldWord(from, to, address + 8L * i));
      }
    }
    return news;
  }

  /** Counts these packets of a slot as lost. */
  void losePackets(long slot, int from, int to) {
    for (int i = from; i < to; i++) {
      lose(ring.firstPsn(slot) + i);
    }
  }

  /** Counts this one as lost. */
  void lose(long psn) {
    if (!lost.get(psn)) {
      lost.set(psn);
      lostCount++;
      if (links.several()) {
        links.lost(psn);
      }
    }
  }

  /**
   * The links of several that have been silent for too long while others answered: what went by
   * them before something that has been answered, by more than an answer may take.
   */
  int silentLinks(LinkLoads loads, SendTags tags, long nowNs) {
    int silent = 0;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      int link = ring.link(slot);
      LinkLoad load = loads.get(link);
      long aheadNs = tags.newestAnsweredNs() - ring.sentAtNs(slot);
      if (aheadNs <= RoundTrip.MINIMUM_TIMEOUT_NS) {
        continue;
      }
      if (aheadNs > load.roundTrip.timeoutNs() && load.isOverdue(nowNs) && isUnderWay(slot)) {
        silent |= 1 << link;
      }
    }
    return silent;
  }

  private boolean isUnderWay(long slot) {
    long end = ring.endPsn(slot);
    for (long psn = Math.max(ring.firstPsn(slot), unacknowledged);
        psn < end;
        psn = (psn | 63) + 1) {
      if (underWayWord(psn, end) != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Counts as lost everything that is under way on this link of several, but for a READ.
   *
   * @return whether a READ is under way on it
   */
  boolean loseBy(int link) {
    boolean asked = false;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      if (ring.isRead(slot)) {
        asked |= ring.link(slot) == link;
        continue;
      }
      long end = ring.endPsn(slot);
      for (long psn = Math.max(ring.firstPsn(slot), unacknowledged); psn < end; psn++) {
        if (links.link(psn) == link && !acknowledged.get(psn)) {
          lose(psn);
        }
      }
    }
    return asked;
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
   * arrived; of several links, where the answer may have overtaken it, what is also older than an
   * answer may take.
   *
   * @return the links that lost something, bit i for link i
   */
  int loseSentBefore(long serial, LinkLoads loads, long nowNs) {
    int found = 0;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long timeoutNs = loads.get(ring.link(slot)).roundTrip.timeoutNs();
      boolean older = !links.several() || nowNs - ring.sentAtNs(slot) > timeoutNs;
      /* The packet that asked has arrived, and the others of its slot were sent a timeout before it. */
      boolean asked = ring.serial(slot) == serial;
      if (!ring.isRead(slot) && (asked || ring.serial(slot) < serial && older)) {
        found |= loseUnacknowledged(slot, unacknowledged);
      }
    }
    return found;
  }

  /* Returns the links that lost something, bit i for link i. */
  private int loseUnacknowledged(long slot, long from) {
    int found = 0;
    long end = ring.endPsn(slot);
    for (long psn = Math.max(ring.firstPsn(slot), from); psn < end; psn++) {
      if (!acknowledged.get(psn) && !lost.get(psn)) {
        found |= 1 << (links.several() ? links.link(psn) : 0);
        lose(psn);
      }
    }
    return found;
  }
}
