package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.PsnBits;

/**
 * Loss detector for packets overtaken by later ones. Three later packets of the same link indicate
 * a loss; on a link that reorders, {@link io.heddle.roce.transport.window.ReorderingDelay a delay}
 * must pass as well. Spurious losses are recognised, since tags identify the transmission that an
 * acknowledgement answers. Used under the progress lock.
 */
final class LossDetector {
  /*
   * Number of later packets of the same link that must arrive before a missing packet counts as
   * lost.
   */
  private static final int REORDER_PACKETS = 3;

  private final Outstanding outstanding;
  private final TransmitRing ring;
  private final LinkScheduler scheduler;
  private final SendTags tags;

  /*
   * Sequence numbers that this detector declared lost and that aren't acknowledged since; the link
   * of each, if there are several links; and their count.
   */
  private final PsnBits declared = new PsnBits();
  private byte[] declaredLink = {};
  private int declaredCount;
  private long dueNs = Pause.NEVER_NS;

  LossDetector(Outstanding outstanding, TransmitRing ring, LinkScheduler scheduler, SendTags tags) {
    this.outstanding = outstanding;
    this.ring = ring;
    this.scheduler = scheduler;
    this.tags = tags;
  }

  /** Clears the state, because nothing is outstanding. */
  void clear() {
    declared.clearAll();
    declaredCount = 0;
    dueNs = Pause.NEVER_NS;
    if (scheduler.hasSeveral() && declaredLink.length == 0) {
      declaredLink = new byte[PsnBits.SIZE];
    }
  }

  /** Returns when {@link #detectLosses} may find further losses, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return dueNs;
  }

  /**
   * Marks packets as lost that acknowledgements show as missing. In a train that was sent once, a
   * missing packet is lost when enough later packets of the link have overtaken it. In a
   * retransmitted train, all missing packets are lost when the retransmission, or a later
   * transmission on the link, is answered.
   *
   * @return links with losses, bit i for link i
   */
  int detectLosses(long nowNs) {
    dueNs = Pause.NEVER_NS;
    return scheduler.hasSeveral() ? detectOnLinks(nowNs) : detectOnOneLink(nowNs);
  }

  private int detectOnOneLink(long nowNs) {
    boolean found = false;
    long highest = outstanding.highestAcknowledged();
    boolean highestBundled = !ring.isEmpty() && ring.wasBundled(ring.slotOf(highest));
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long first = ring.firstPsn(slot);
      if (first + REORDER_PACKETS > highest) {
        break;
      }
      if (ring.isRead(slot) || ring.sends(slot) > 1 && ring.serial(slot) > tags.answered(0)) {
        continue;
      }
      if (ring.sends(slot) == 1 && ring.wasBundled(slot) != highestBundled) {
        continue; /* packets sent through another socket may be late rather than lost */
      }
      long from = Math.max(first, outstanding.unacknowledged());
      long to = Math.min(first + ring.packets(slot), highest - REORDER_PACKETS + 1);
      long missing = nextMissing(from, to);
      if (missing < to && hasLostTimePassed(slot, 0, nowNs)) {
        for (; missing < to; missing = nextMissing(missing + 1, to)) {
          declareLost(missing, 0);
          found = true;
        }
      }
    }
    return found ? 1 : 0;
  }

  private int detectOnLinks(long nowNs) {
    PsnLinks links = outstanding.links();
    int found = 0;
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long first = ring.firstPsn(slot);
      if (first > outstanding.highestAcknowledged()) {
        break;
      }
      if (ring.isRead(slot)
          || ring.sends(slot) == 1 && first + REORDER_PACKETS > links.highest(ring.link(slot))) {
        continue;
      }
      long end = ring.endPsn(slot);
      long psn = Math.max(first, outstanding.unacknowledged());
      for (psn = nextMissing(psn, end); psn < end; psn = nextMissing(psn + 1, end)) {
        int link = links.link(psn);
        boolean passed =
            links.wasRetransmitted(psn)
                ? ring.serial(slot) <= tags.answered(link)
                : psn + REORDER_PACKETS <= links.highest(link);
        if (passed && hasLostTimePassed(slot, link, nowNs)) {
          declareLost(psn, link);
          found |= 1 << link;
        }
      }
    }
    return found;
  }

  /*
   * Returns the first sequence number in flight from {@code from} on; {@code end} if there is none.
   */
  private long nextMissing(long from, long end) {
    for (long psn = from; psn < end; psn = (psn | 63) + 1) {
      long missing = outstanding.inFlightWord(psn, end);
      if (missing != 0) {
        return (psn & ~63L) + Long.numberOfTrailingZeros(missing);
      }
    }
    return end;
  }

  /*
   * Returns whether the delay of an overtaken packet has passed; if not, schedules the next check.
   */
  private boolean hasLostTimePassed(long slot, int link, long nowNs) {
    LinkState state = scheduler.get(link);
    long lostAtNs = state.reorderingDelay.lostAtNs(ring.sentAtNs(slot), state.roundTrip);
    if (nowNs - lostAtNs >= 0) {
      return true;
    }
    dueNs = Math.min(dueNs, lostAtNs);
    return false;
  }

  private void declareLost(long psn, int link) {
    outstanding.markLost(psn);
    if (!declared.get(psn)) {
      declared.set(psn);
      declaredCount++;
    }
    if (scheduler.hasSeveral()) {
      declaredLink[(int) psn & PsnBits.SIZE - 1] = (byte) link;
    }
  }

  /**
   * Processes the arrival of the packets {@code [from, upTo)}; called before {@link Outstanding} is
   * updated.
   *
   * @return number of spurious retransmissions
   */
  int arrivedIn(long from, long upTo, long nowNs) {
    int spurious = 0;
    for (long psn = from; declaredCount > 0 && psn < upTo; ) {
      spurious += arrived(psn, declared.word(psn) & PsnBits.mask(psn, upTo), nowNs);
      psn = (psn | 63) + 1;
    }
    return spurious;
  }

  /**
   * Processes arrivals from a soft peer's bitmap; called before {@link Outstanding} is updated.
   *
   * @return number of spurious retransmissions
   */
  int arrivedIn(long firstMissing, long address, int words, long nowNs) {
    int spurious = 0;
    for (int i = 0; declaredCount > 0 && i < words; i++) {
      long from = Math.max((firstMissing & ~63L) + 64L * i, outstanding.unacknowledged());
      long to = Math.min((firstMissing & ~63L) + 64L * (i + 1), outstanding.next());
      if (from < to) {
        long newlyAcknowledged = outstanding.newlyAcknowledgedWord(from, to, address + 8L * i);
        spurious += arrived(from, declared.word(from) & newlyAcknowledged, nowNs);
      }
    }
    return spurious;
  }

  private int arrived(long wordOf, long bits, long nowNs) {
    int spurious = 0;
    for (long left = bits; left != 0; left &= left - 1) {
      long psn = (wordOf & ~63L) + Long.numberOfTrailingZeros(left);
      declared.clear(psn);
      declaredCount--;
      spurious += spuriousLoss(psn, nowNs) ? 1 : 0;
    }
    return spurious;
  }

  /*
   * Returns whether an acknowledged packet was retransmitted without need. An acknowledgement that
   * returns an earlier tag than the retransmission's, in less than a round trip, must be for the
   * first transmission.
   */
  private boolean spuriousLoss(long psn, long nowNs) {
    LinkState lost =
        scheduler.get(scheduler.hasSeveral() ? declaredLink[(int) psn & PsnBits.SIZE - 1] : 0);
    if (outstanding.isLost(psn)) {
      lost.spuriousLoss(0, nowNs);
      return false; /* the packet arrived before its retransmission */
    }
    long slot = ring.slotOf(psn);
    int link = outstanding.links().link(psn);
    long sinceNs = nowNs - ring.sentAtNs(slot);
    if (ring.serial(slot) > tags.answered(link)
        && sinceNs < scheduler.get(link).roundTrip.smoothedNs() * 3 / 4) {
      lost.spuriousLoss(sinceNs, nowNs);
      return true;
    }
    lost.reorderingDelay.onRealLoss(nowNs);
    return false;
  }
}
