package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.LinkArrivals;
import io.heddle.roce.transport.LinkSet;
import io.heddle.roce.transport.window.SendWindow;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.LinkCounts;
import java.util.ArrayList;
import java.util.List;

/**
 * Requester's scheduler over the links of a queue pair: chooses the link of the next train, and
 * updates each link's state from answers. Used under the progress lock.
 *
 * <p>Trains are distributed by weight (weighted fair queueing with the links as queues) among links
 * that answer and have room in their window. So a slow link gets only what it can carry. A single
 * link takes all.
 */
final class LinkScheduler {
  /** Result if no link has room. */
  static final int NONE = -1;

  private static final int SCALE = 1 << 16;

  /*
   * Largest number of bytes that a link may catch up on after a time without sends, such as when
   * its window was full or the link was out of use.
   */
  private static final long MOST_LAG_BYTES = 1 << 20;

  private final Outstanding outstanding;
  private final PendingRead read;
  private final PsnLinks numbers;
  private LinkState[] links = {new LinkState()};
  private final int[] inFlightBefore = new int[EndpointParameters.MOST_LINKS];
  private long unacknowledgedBefore;
  /*
   * Window bounds in packets: the largest window, and the smallest useful one. Narrow packets have
   * the path MTU, wide packets the agreed size.
   */
  private int narrowMost;
  private int narrowLeast;
  private int wideMost;
  private int wideLeast;

  LinkScheduler(Outstanding outstanding, PendingRead read) {
    this.outstanding = outstanding;
    this.read = read;
    numbers = outstanding.links();
  }

  /** Resets to these links, each with its own window. */
  void start(LinkSet peers, PacketSizes sizes, long nowNs) {
    if (links.length != peers.count()) {
      links = new LinkState[peers.count()];
      for (int i = 0; i < links.length; i++) {
        links[i] = new LinkState();
      }
    }
    wideMost = peers.wideWindow();
    wideLeast = SendWindow.smallest(sizes.packetsOfTrain());
    narrowMost = peers.narrowWindow();
    narrowLeast = SendWindow.smallest(sizes.narrow().packetsOfTrain());
    long next = outstanding.next();
    for (int i = 0; i < links.length; i++) {
      links[i].start(narrowMost, narrowLeast, next, peers.isAbsent(i), sizes.isWide(), nowNs);
    }
  }

  boolean hasSeveral() {
    return links.length > 1;
  }

  int count() {
    return links.length;
  }

  LinkState get(int link) {
    return links[link];
  }

  /**
   * Returns the number of packets in flight on this link. A READ counts as one packet, however many
   * responses it has.
   */
  int inFlight(int link) {
    return numbers.hasSeveral()
        ? numbers.inFlightOn(link)
        : outstanding.inFlight() - read.missingResponses();
  }

  /** Returns how many more packets this link may send. */
  int room(int link) {
    return links[link].window.packets() - inFlight(link);
  }

  /**
   * Returns the link for the next train, or {@link #NONE} while none has room.
   *
   * @param except link that lost the packets, which is chosen only if no other link has room; or
   *     {@link #NONE}
   */
  int choose(int except) {
    if (links.length == 1) {
      return room(0) > 0 ? 0 : NONE;
    }
    boolean weighted = isAnyWeighted();
    int best = NONE;
    for (int i = 0; i < links.length; i++) {
      LinkState link = links[i];
      if (link.isUsable()
          && (link.weight > 0 || !weighted)
          && isWorthwhile(i)
          && (best == NONE
              || best == except
              || i != except && link.virtualTime < links[best].virtualTime)) {
        best = i;
      }
    }
    return best;
  }

  private boolean isWorthwhile(int link) {
    int room = room(link);
    /*
     * Sending a part of a train costs as much as sending a whole one. So a link with packets in
     * flight must have room for a whole train.
     */
    return room >= links[link].window.smallest() / 2 || room > 0 && numbers.inFlightOn(link) == 0;
  }

  /* Without a usable link of positive weight, all usable links count equally. */
  private boolean isAnyWeighted() {
    for (LinkState link : links) {
      if (link.isUsable() && link.weight > 0) {
        return true;
      }
    }
    return false;
  }

  /** Records a train sent on a link; {@code payload} bytes of it are new. */
  void sent(int link, int bytes, int payload) {
    if (links.length == 1) {
      return;
    }
    LinkState to = links[link];
    to.sentBytes += payload;
    to.virtualTime += (long) bytes * SCALE / Math.max(1, to.weight);
    long total = 0;
    for (LinkState each : links) {
      total += each.weight;
    }
    long floor = to.virtualTime - MOST_LAG_BYTES * SCALE / Math.max(1, total);
    for (LinkState each : links) {
      each.virtualTime = Math.max(each.virtualTime, floor);
    }
  }

  /** Sets new weights, and clears the virtual times, which follow from the old weights. */
  void setWeights(int[] weights) {
    for (int i = 0; i < links.length; i++) {
      links[i].weight = weights[i];
      links[i].virtualTime = 0;
    }
  }

  /** Prepares to process an answer. */
  void beginAcknowledgement() {
    unacknowledgedBefore = outstanding.unacknowledged();
    for (int i = 0; i < links.length; i++) {
      inFlightBefore[i] = inFlight(i);
    }
    if (numbers.hasSeveral()) {
      numbers.clearArrivals();
    }
  }

  /**
   * Processes the result of an answer.
   *
   * @param fresh count of newly acknowledged sequence numbers
   * @return whether the answer made progress. It also made progress if it closed the gap before
   *     sequence numbers that bitmaps had acknowledged
   */
  boolean endAcknowledgement(int fresh, long nowNs) {
    if (!numbers.hasSeveral()) {
      links[0].window.acknowledged(fresh, inFlightBefore[0]);
    }
    for (int i = 0; numbers.hasSeveral() && i < links.length; i++) {
      int arrived = numbers.arrivals(i);
      if (arrived > 0 && !links[i].isReportedDown()) {
        links[i].onAnswer(nowNs);
        links[i].window.acknowledged(arrived, inFlightBefore[i]);
      }
    }
    return fresh > 0 || outstanding.unacknowledged() > unacknowledgedBefore;
  }

  /** Records a measured round trip on this link. */
  void measured(int link, long sentAtNs, long nowNs, long waitedNs) {
    LinkState of = links[link];
    of.window.measured(sentAtNs, nowNs, waitedNs);
    of.roundTrip.sample(Math.max(1, nowNs - sentAtNs));
    if (links.length > 1 && of.provesLinkUp(sentAtNs)) {
      of.onAnswer(nowNs);
    }
  }

  /**
   * Records an answered width probe: this link carries packets of the agreed size, which is larger
   * than the path MTU.
   */
  void wideAnswered(int link, long nowNs) {
    if (!links[link].wide.isPassing()) {
      links[link].window.refit(wideMost, wideLeast);
    }
    links[link].wide.answered(nowNs);
  }

  /** Records a loss in a train of packets that are larger than the path MTU. */
  void wideLost(int link, long nowNs) {
    if (links[link].wide.lost(nowNs)) {
      links[link].window.refit(narrowMost, narrowLeast);
    }
  }

  /** Records losses on this set of links, bit i for link i. */
  void lost(int set) {
    for (int left = set; left != 0; left &= left - 1) {
      links[Integer.numberOfTrailingZeros(left)].lost(
          outstanding.unacknowledged(), outstanding.next());
    }
  }

  /** Ignores further losses until all packets that are outstanding now have been acknowledged. */
  void recover() {
    for (LinkState link : links) {
      link.recoverUntil(outstanding.next());
    }
  }

  /** Records silence of all links for a whole timeout. */
  void onSilenceOfAll() {
    for (int i = 0; i < links.length; i++) {
      if (links.length == 1 || numbers.inFlightOn(i) > 0) {
        links[i].window.silent();
      }
    }
  }

  /** Records silence of this link while others answered. */
  void onSilence(int link, long nowNs) {
    links[link].onSilence(isAnotherUsable(link), nowNs);
  }

  /** Returns whether this link and at least one other link are in use. */
  boolean mayRest(int link) {
    return link < links.length && links[link].isUsable() && isAnotherUsable(link);
  }

  private boolean isAnotherUsable(int link) {
    boolean others = false;
    for (int i = 0; i < links.length; i++) {
      others |= i != link && links[i].isUsable();
    }
    return others;
  }

  /**
   * Returns the links of this set on which no answer has arrived for a whole timeout, bit i for
   * link i.
   */
  int overdue(int set, long nowNs) {
    int overdue = 0;
    for (int left = links.length > 1 ? set : 0; left != 0; left &= left - 1) {
      int link = Integer.numberOfTrailingZeros(left);
      overdue |= links[link].isOverdue(nowNs) ? 1 << link : 0;
    }
    return overdue;
  }

  /**
   * Returns the next link after this one that may answer a probe.
   *
   * @param includeResting whether to include links that are out of use because they were silent;
   *     true once probes on all other links have not been answered
   */
  int next(int link, boolean includeResting) {
    for (int i = 1; i <= links.length; i++) {
      int candidate = (link + i) % links.length;
      if (includeResting ? !links[candidate].isAbsent() : links[candidate].isUsable()) {
        return candidate;
      }
    }
    return link;
  }

  /** Returns the counters of each link; empty if there is only one link. */
  List<LinkCounts> counts(LinkArrivals arrivals) {
    List<LinkCounts> counts = new ArrayList<>();
    for (int i = 0; links.length > 1 && i < links.length; i++) {
      LinkState state = links[i];
      counts.add(
          new LinkCounts(
              state.sentBytes,
              state.acknowledgedBytes,
              state.resentPackets,
              arrivals.receivedBytes(i),
              arrivals.ahead(i),
              state.silences(),
              state.isResting()));
    }
    return counts;
  }
}
