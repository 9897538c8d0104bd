package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.PsnBits;

/**
 * Packets that later ones have overtaken: lost, or only late. Three later packets of the same link
 * are the evidence of a loss, and where packets of the link overtake each other, {@link
 * io.heddle.roce.transport.window.Lateness time} besides. What was given up so and comes after all
 * is found out, since the tags tell which sending an acknowledgement answers. Under the progress
 * lock.
 */
final class Overtaken {
  /* Later packets of the same link that must have arrived before a missing one counts as lost. */
  private static final int REORDER_PACKETS = 3;

  private final Outstanding outstanding;
  private final TransmitRing ring;
  private final LinkLoads loads;
  private final SendTags tags;

  /* Numbers that count, or counted, as lost by this evidence, and haven't been acknowledged since; and of several links
  the one that lost each. */
  private final PsnBits given = new PsnBits();
  private byte[] givenOn = {};
  private int givenCount;
  private long dueNs = Pause.NEVER_NS;

  Overtaken(Outstanding outstanding, TransmitRing ring, LinkLoads loads, SendTags tags) {
    this.outstanding = outstanding;
    this.ring = ring;
    this.loads = loads;
    this.tags = tags;
  }

  /** Nothing is outstanding. */
  void clear() {
    given.clearAll();
    givenCount = 0;
    dueNs = Pause.NEVER_NS;
    if (loads.several() && givenOn.length == 0) {
      givenOn = new byte[PsnBits.SIZE];
    }
  }

  /** When {@link #lose} would find more than before, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return dueNs;
  }

  /**
   * Counts as lost what acknowledgements show as missing: of trains sent once, packets with some
   * later ones of the same link arrived; of trains that were sent again, everything once that
   * sending or a later one by the same link has been answered.
   *
   * @return the links that lost something, bit i for link i
   */
  int lose(long nowNs) {
    dueNs = Pause.NEVER_NS;
    return loads.several() ? loseOfSeveral(nowNs) : loseOfOne(nowNs);
  }

  private int loseOfOne(long nowNs) {
    boolean found = false;
    long highest = outstanding.highestAcknowledged();
    boolean byGuest = !ring.isEmpty() && ring.wasGuest(ring.slotOf(highest));
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long first = ring.firstPsn(slot);
      if (first + REORDER_PACKETS > highest) {
        break;
      }
      if (ring.isRead(slot) || ring.sends(slot) > 1 && ring.serial(slot) > tags.answered(0)) {
        continue;
      }
      if (ring.sends(slot) == 1 && ring.wasGuest(slot) != byGuest) {
        continue; /* what went by another socket may be late */
      }
      long from = Math.max(first, outstanding.unacknowledged());
      long to = Math.min(first + ring.packets(slot), highest - REORDER_PACKETS + 1);
      long missing = nextMissing(from, to);
      if (missing < to && isOver(slot, 0, nowNs)) {
        for (; missing < to; missing = nextMissing(missing + 1, to)) {
          give(missing, 0);
          found = true;
        }
      }
    }
    return found ? 1 : 0;
  }

  private int loseOfSeveral(long nowNs) {
    LinkNumbers links = outstanding.links();
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
            links.wasSentAgain(psn)
                ? ring.serial(slot) <= tags.answered(link)
                : psn + REORDER_PACKETS <= links.highest(link);
        if (passed && isOver(slot, link, nowNs)) {
          give(psn, link);
          found |= 1 << link;
        }
      }
    }
    return found;
  }

  /* The first number from this one on that is under way, or end. */
  private long nextMissing(long from, long end) {
    for (long psn = from; psn < end; psn = (psn | 63) + 1) {
      long missing = outstanding.underWayWord(psn, end);
      if (missing != 0) {
        return (psn & ~63L) + Long.numberOfTrailingZeros(missing);
      }
    }
    return end;
  }

  /* Whether its time is over; where not, there is a time to look again. */
  private boolean isOver(long slot, int link, long nowNs) {
    LinkLoad load = loads.get(link);
    long lostAtNs = load.lateness.lostAtNs(ring.sentAtNs(slot), load.roundTrip);
    if (nowNs - lostAtNs >= 0) {
      return true;
    }
    dueNs = Math.min(dueNs, lostAtNs);
    return false;
  }

  private void give(long psn, int link) {
    outstanding.lose(psn);
    if (!given.get(psn)) {
      given.set(psn);
      givenCount++;
    }
    if (loads.several()) {
      givenOn[(int) psn & PsnBits.SIZE - 1] = (byte) link;
    }
  }

  /**
   * Everything in {@code [from, upTo)} has arrived; to be told before {@link Outstanding} is.
   *
   * @return how many packets were sent again in vain
   */
  int arrivedIn(long from, long upTo, long nowNs) {
    int inVain = 0;
    for (long psn = from; givenCount > 0 && psn < upTo; ) {
      inVain += arrived(psn, given.word(psn) & PsnBits.mask(psn, upTo), nowNs);
      psn = (psn | 63) + 1;
    }
    return inVain;
  }

  /**
   * These have arrived, by a soft peer's bitmap; to be told before {@link Outstanding} is.
   *
   * @return how many packets were sent again in vain
   */
  int arrivedIn(long firstMissing, long address, int words, long nowNs) {
    int inVain = 0;
    for (int i = 0; givenCount > 0 && i < words; i++) {
      long from = Math.max((firstMissing & ~63L) + 64L * i, outstanding.unacknowledged());
      long to = Math.min((firstMissing & ~63L) + 64L * (i + 1), outstanding.next());
      if (from < to) {
        long told = outstanding.toldWord(from, to, address + 8L * i);
        inVain += arrived(from, given.word(from) & told, nowNs);
      }
    }
    return inVain;
  }

  private int arrived(long wordOf, long bits, long nowNs) {
    int inVain = 0;
    for (long left = bits; left != 0; left &= left - 1) {
      long psn = (wordOf & ~63L) + Long.numberOfTrailingZeros(left);
      given.clear(psn);
      givenCount--;
      inVain += cameAfterAll(psn, nowNs) ? 1 : 0;
    }
    return inVain;
  }

  /* An acknowledgement of the second sending takes a round trip, and brings its tag or a later one. */
  private boolean cameAfterAll(long psn, long nowNs) {
    LinkLoad lost = loads.get(loads.several() ? givenOn[(int) psn & PsnBits.SIZE - 1] : 0);
    if (outstanding.isLost(psn)) {
      lost.cameAfterAll(0, nowNs);
      return false; /* in time: it wasn't sent again yet */
    }
    long slot = ring.slotOf(psn);
    int link = outstanding.links().link(psn);
    long sinceNs = nowNs - ring.sentAtNs(slot);
    if (ring.serial(slot) > tags.answered(link)
        && sinceNs < loads.get(link).roundTrip.smoothedNs() * 3 / 4) {
      lost.cameAfterAll(sinceNs, nowNs);
      return true;
    }
    lost.lateness.wasLost(nowNs);
    return false;
  }
}
