package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;

/**
 * Reaction of a requester to lost packets and silent links: marks what has to be sent again, slows
 * the links, and activates the queue pair. Used under the progress lock.
 */
final class Losses {
  private final QueuePairEvents events;
  private final Outstanding outstanding;
  private final PendingRead read;
  private final LinkScheduler loads;
  private final SendTags tags;
  private final LossDetector detector;

  Losses(
      QueuePairEvents events,
      Outstanding outstanding,
      PendingRead read,
      LinkScheduler loads,
      SendTags tags,
      LossDetector detector) {
    this.events = events;
    this.outstanding = outstanding;
    this.read = read;
    this.loads = loads;
    this.tags = tags;
    this.detector = detector;
  }

  /**
   * Finds the losses that an acknowledgement shows: packets overtaken by later ones, packets sent
   * before an answered probe, which its answer doesn't cover, and links on which nothing is heard.
   */
  void onAcknowledgement(boolean hasBitmap, long nowNs) {
    if (hasBitmap) {
      detect(nowNs);
    }
    long probe = tags.takeAnsweredProbe();
    if (probe > 0) {
      int losers = outstanding.markLostSentBefore(probe, loads, nowNs);
      onLosses(losers);
      onSilentLinks(loads.overdue(losers, nowNs), nowNs);
    }
    if (loads.hasSeveral() && !outstanding.isEmpty()) {
      onSilentLinks(outstanding.silentLinks(loads, tags, nowNs), nowNs);
    }
  }

  void onTimer(long nowNs) {
    if (nowNs - detector.dueNs() >= 0) {
      detect(nowNs);
    }
  }

  private void detect(long nowNs) {
    onLosses(detector.detectLosses(nowNs));
    if (detector.dueNs() != Pause.NEVER_NS) {
      events.timerAt(detector.dueNs());
    }
  }

  /** Records losses on this set of links, bit i for link i. */
  void onLosses(int links) {
    if (links != 0) {
      loads.lost(links);
      events.activate();
    }
  }

  /* Takes links on which nothing is heard out of use. */
  private void onSilentLinks(int links, long nowNs) {
    for (int left = links; left != 0; left &= left - 1) {
      int link = Integer.numberOfTrailingZeros(left);
      read.markLostIf(outstanding.markLinkLost(link));
      loads.onSilence(link, nowNs);
      events.activate();
    }
  }

  /** Takes a link out of use, because the host reports it down. */
  void linkLost(int link, long nowNs) {
    if (loads.mayRest(link)) {
      onSilentLinks(1 << link, nowNs);
      loads.get(link).onDown(nowNs);
      events.timerAt(nowNs); /* if no caller polls, the timer makes the device's thread resend */
    }
  }

  /** Marks everything from this number on as lost. */
  void markLostFrom(long psn) {
    outstanding.markLostFrom(psn);
    read.markLostIfEndsBehind(psn);
  }
}
