package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Completer;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.transport.window.RoundTrip;

/**
 * Release of acknowledged slots of the transmit ring: measures round trips, frees the slots, and
 * completes their requests. Used under the progress lock.
 */
final class AcknowledgedSlots {
  private final QueuePairEvents events;
  private final Counters counters;
  private final TransmitRing ring;
  private final Outstanding outstanding;
  private final PendingRead read;
  private final LinkScheduler loads;
  private final LossDetector lossDetector;
  private final SendTags tags;
  private final RoundTrip roundTrip;
  private final SlotSender sender;
  private final Completer completer;
  private boolean softPeer;

  AcknowledgedSlots(
      QueuePairEvents events,
      Counters counters,
      TransmitRing ring,
      Outstanding outstanding,
      PendingRead read,
      LinkScheduler loads,
      LossDetector lossDetector,
      SendTags tags,
      RoundTrip roundTrip,
      SlotSender sender,
      Completer completer) {
    this.events = events;
    this.counters = counters;
    this.ring = ring;
    this.outstanding = outstanding;
    this.read = read;
    this.loads = loads;
    this.lossDetector = lossDetector;
    this.tags = tags;
    this.roundTrip = roundTrip;
    this.sender = sender;
    this.completer = completer;
  }

  void start(boolean peerIsSoft) {
    softPeer = peerIsSoft;
  }

  /** Processes the tag of an acknowledgement; see {@link Requester#onTag}. */
  void onTag(int tag, long waitedNs, long nowNs) {
    if (tags.answer(tag)) {
      if (tags.isWidthProbe(tag)) {
        loads.wideAnswered(tags.link(tag), nowNs);
      }
      measured(tags.link(tag), tags.sentAtNs(tag), nowNs, waitedNs);
    }
  }

  private void measured(int link, long sentAtNs, long nowNs, long waitedNs) {
    roundTrip.sample(Math.max(1, nowNs - sentAtNs));
    loads.measured(link, sentAtNs, nowNs, waitedNs);
    sender.answered(link, sentAtNs, nowNs);
  }

  /**
   * Advances the acknowledged number; returns the count of newly acknowledged numbers. May move the
   * queue pair to ERROR, if a completion overruns its queue.
   */
  int advance(long upTo, long nowNs) {
    long to = read.limitAcknowledgement(upTo);
    int fresh = 0;
    if (to < upTo) {
      /* these numbers follow a READ with missing responses */
      counters.spuriouslyResent(lossDetector.arrivedIn(read.endPsn(), upTo, nowNs));
      fresh = outstanding.acknowledgeRange(read.endPsn(), upTo);
    }
    if (to <= outstanding.unacknowledged()) {
      return fresh;
    }
    counters.spuriouslyResent(lossDetector.arrivedIn(outstanding.unacknowledged(), to, nowNs));
    fresh += outstanding.advance(to);
    while (ring.head() < ring.tail() && ring.endPsn(ring.head()) <= to) {
      long slot = ring.head();
      boolean newest = slot + 1 == ring.tail() || ring.endPsn(slot + 1) > to;
      if (newest && ring.sends(slot) == 1) {
        arrived(slot, nowNs);
      }
      LinkState load = loads.get(ring.link(slot));
      load.acknowledgedBytes += ring.payloadBytes(slot);
      if (!softPeer && ring.sends(slot) > 2) {
        /* The last transmission was sent packet by packet. */
        sender.answered(0, ring.sentAtNs(slot), nowNs);
      }
      sender.acknowledged(load, slot, nowNs);
      ring.removeHead();
    }
    completer.completeSends(outstanding.unacknowledged());
    return fresh;
  }

  /* Measures the round trip of a slot sent once, unless tags or READ responses measure it. */
  private void arrived(long slot, long nowNs) {
    if (!softPeer && !ring.isRead(slot)) {
      measured(0, ring.sentAtNs(slot), nowNs, events.longestSocketWaitNs());
    }
  }
}
