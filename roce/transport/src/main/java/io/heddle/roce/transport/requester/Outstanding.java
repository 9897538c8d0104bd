package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PsnBits;

/**
 * Record of outstanding sequence numbers {@code [unacknowledged, next)}: those selectively
 * acknowledged by a soft peer's bitmaps, and those lost and due for retransmission. The packets are
 * in the transmit ring. Used under the progress lock.
 */
final class Outstanding {
  private final TransmitRing ring;
  private final PsnBits acknowledged = new PsnBits();
  private final PsnBits lost = new PsnBits();
  private final PsnLinks links = new PsnLinks();
  private long unacknowledged;
  private long next;
  private int acknowledgedCount;
  private int lostCount;
  private long highestAcknowledged;

  Outstanding(TransmitRing ring) {
    this.ring = ring;
  }

  /** Returns the map from sequence numbers to links. */
  PsnLinks links() {
    return links;
  }

  /**
   * Resets to a state with nothing outstanding, in which {@code psn} is the next sequence number to
   * send.
   */
  void start(int psn, int linkCount) {
    /* The offset keeps sequence numbers below the first one positive. */
    unacknowledged = (psn & PacketFormat.PSN_MASK) + (1L << 24);
    highestAcknowledged = unacknowledged - 1;
    links.start(linkCount, unacknowledged);
    stop();
  }

  /** Clears all outstanding sequence numbers. */
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

  /** Returns the count of sequence numbers in flight, which are neither acknowledged nor lost. */
  int inFlight() {
    return (int) (next - unacknowledged) - acknowledgedCount - lostCount;
  }

  boolean isAnyLost() {
    return lostCount > 0;
  }

  int lostCount() {
    return lostCount;
  }

  boolean isLost(long psn) {
    return lost.get(psn);
  }

  /** Returns the highest acknowledged sequence number. */
  long highestAcknowledged() {
    return highestAcknowledged;
  }

  /**
   * Returns the sequence numbers in flight from {@code psn} to {@code end}, as bits of the word
   * that contains {@code psn}.
   */
  long inFlightWord(long psn, long end) {
    return PsnBits.mask(psn, end) & ~acknowledged.word(psn) & ~lost.word(psn);
  }

  /**
   * Returns the bits of the sequence numbers in this range that the bitmap's word at this address
   * newly acknowledges.
   */
  long newlyAcknowledgedWord(long from, long to, long address) {
    return PacketFormat.networkLong(address) & PsnBits.mask(from, to) & ~acknowledged.word(from);
  }

  /**
   * Records that all sequence numbers below {@code end} were sent. Those not sent before were sent
   * on this link.
   */
  void sentTo(long end, int link) {
    links.sent(next, end, link);
    next = end;
  }

  /** Records the retransmission of lost or probed sequence numbers on this link. */
  void retransmitted(long from, long to, int link) {
    for (long psn = from; links.hasSeveral() && psn < to; psn++) {
      if (!acknowledged.get(psn)) {
        links.retransmitted(psn, link, !lost.get(psn));
      }
    }
    lostCount -= lost.clearRange(from, to);
  }

  /**
   * Acknowledges all sequence numbers below {@code to}, which is above {@link #unacknowledged}. The
   * ring keeps its slots until the caller removes them.
   *
   * @return count of numbers newly acknowledged
   */
  int advance(long to) {
    int fresh = (int) (to - unacknowledged);
    for (long psn = unacknowledged; links.hasSeveral() && psn < to; psn++) {
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
   * Acknowledges the sequence numbers {@code [from, to)}, which follow a gap.
   *
   * @return count of numbers newly acknowledged
   */
  int acknowledgeRange(long from, long to) {
    int count = 0;
    for (long psn = from; psn < to; psn = (psn | 63) + 1) {
      count += acknowledgeWord(psn, PsnBits.mask(psn, to) & ~acknowledged.word(psn));
    }
    return count;
  }

  /*
   * Acknowledges the sequence numbers of these bits, in the word that contains number {@code
   * wordOf}. Returns their count.
   */
  private int acknowledgeWord(long wordOf, long fresh) {
    if (fresh == 0) {
      return 0;
    }
    long base = wordOf & ~63L;
    for (long left = fresh; links.hasSeveral() && left != 0; left &= left - 1) {
      long psn = base + Long.numberOfTrailingZeros(left);
      links.arrived(psn, !lost.get(psn));
    }
    acknowledged.setWord(base, acknowledged.word(base) | fresh);
    lostCount -= Long.bitCount(lost.word(base) & fresh);
    lost.setWord(base, lost.word(base) & ~fresh);
    highestAcknowledged =
        Math.max(highestAcknowledged, base + 63 - Long.numberOfLeadingZeros(fresh));
    int count = Long.bitCount(fresh);
    acknowledgedCount += count;
    return count;
  }

  /**
   * Processes a soft peer's bitmap, whose first word contains {@code firstMissing}.
   *
   * @return count of numbers newly acknowledged
   */
  int acknowledgeBitmap(long firstMissing, long address, int words) {
    int count = 0;
    long base = firstMissing & ~63L;
    for (int i = 0; i < words; i++) {
      long from = Math.max(base + 64L * i, unacknowledged);
      long to = Math.min(base + 64L * (i + 1), next);
      if (from < to) {
        count += acknowledgeWord(from, newlyAcknowledgedWord(from, to, address + 8L * i));
      }
    }
    return count;
  }

  /** Marks these packets of a slot as lost. */
  void markPacketsLost(long slot, int from, int to) {
    for (int i = from; i < to; i++) {
      markLost(ring.firstPsn(slot) + i);
    }
  }

  /** Marks a sequence number as lost. */
  void markLost(long psn) {
    if (!lost.get(psn)) {
      lost.set(psn);
      lostCount++;
      if (links.hasSeveral()) {
        links.lost(psn);
      }
    }
  }

  /**
   * Returns which of several links were silent too long while others answered, bit i for link i. A
   * silent link has packets in flight that were sent more than a timeout before an answered packet.
   */
  int silentLinks(LinkScheduler scheduler, SendTags tags, long nowNs) {
    int silent = 0;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      int link = ring.link(slot);
      LinkState state = scheduler.get(link);
      long aheadNs = tags.newestAnsweredNs() - ring.sentAtNs(slot);
      if (aheadNs <= RoundTrip.MINIMUM_TIMEOUT_NS) {
        continue;
      }
      if (aheadNs > state.roundTrip.timeoutNs() && state.isOverdue(nowNs) && isInFlight(slot)) {
        silent |= 1 << link;
      }
    }
    return silent;
  }

  private boolean isInFlight(long slot) {
    long end = ring.endPsn(slot);
    for (long psn = Math.max(ring.firstPsn(slot), unacknowledged);
        psn < end;
        psn = (psn | 63) + 1) {
      if (inFlightWord(psn, end) != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Marks everything in flight on this link as lost, except a READ. Requires several links.
   *
   * @return whether a READ is in flight on this link
   */
  boolean markLinkLost(int link) {
    boolean isReadInFlight = false;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      if (ring.isRead(slot)) {
        isReadInFlight |= ring.link(slot) == link;
        continue;
      }
      long end = ring.endPsn(slot);
      for (long psn = Math.max(ring.firstPsn(slot), unacknowledged); psn < end; psn++) {
        if (links.link(psn) == link && !acknowledged.get(psn)) {
          markLost(psn);
        }
      }
    }
    return isReadInFlight;
  }

  /** Marks all unacknowledged sequence numbers from {@code psn} on as lost. */
  void markLostFrom(long psn) {
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      if (!ring.isRead(slot)) {
        markUnacknowledgedLost(slot, psn);
      }
    }
  }

  /**
   * Marks unacknowledged sequence numbers that were sent before an answered probe as lost. With
   * several links, the answer may have overtaken packets on another link. Then only numbers sent
   * more than a timeout ago are marked.
   *
   * @return links with losses, bit i for link i
   */
  int markLostSentBefore(long serial, LinkScheduler scheduler, long nowNs) {
    int found = 0;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long timeoutNs = scheduler.get(ring.link(slot)).roundTrip.timeoutNs();
      boolean older = !links.hasSeveral() || nowNs - ring.sentAtNs(slot) > timeoutNs;
      /*
       * The other packets of the probe's slot are lost too: they were sent a timeout before the
       * probe.
       */
      boolean isProbed = ring.serial(slot) == serial;
      if (!ring.isRead(slot) && (isProbed || ring.serial(slot) < serial && older)) {
        found |= markUnacknowledgedLost(slot, unacknowledged);
      }
    }
    return found;
  }

  /* Returns links with losses, bit i for link i. */
  private int markUnacknowledgedLost(long slot, long from) {
    int found = 0;
    long end = ring.endPsn(slot);
    for (long psn = Math.max(ring.firstPsn(slot), from); psn < end; psn++) {
      if (!acknowledged.get(psn) && !lost.get(psn)) {
        found |= 1 << (links.hasSeveral() ? links.link(psn) : 0);
        markLost(psn);
      }
    }
    return found;
  }
}
