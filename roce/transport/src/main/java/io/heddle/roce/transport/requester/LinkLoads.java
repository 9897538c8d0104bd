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
 * The links of a queue pair as its requester sees them: which takes the next train, and what an
 * answer says of each. Under the progress lock.
 *
 * <p>Trains are shared out by weight (weighted fair queueing with the links as the queues) among
 * links that answer and whose own window has room, so that a link that can't keep up is given what
 * it can carry. The one link of a usual queue pair takes all.
 */
final class LinkLoads {
  /** No link. */
  static final int NONE = -1;

  private static final int SCALE = 1 << 16;

  /* A link that was full or rested may catch up by so many bytes, not by all that it ever missed. */
  private static final long MOST_LAG_BYTES = 1 << 20;

  private final Outstanding outstanding;
  private final PendingRead read;
  private final LinkNumbers numbers;
  private LinkLoad[] links = {new LinkLoad()};
  private final int[] before = new int[EndpointParameters.MOST_LINKS];
  private long unacknowledgedBefore;
  /* Of windows, in packets: the most and the least of use, where packets are narrow and where they are wide. */
  private int narrowMost;
  private int narrowLeast;
  private int wideMost;
  private int wideLeast;

  LinkLoads(Outstanding outstanding, PendingRead read) {
    this.outstanding = outstanding;
    this.read = read;
    numbers = outstanding.links();
  }

  /** Starts anew on these links, each with its own window. */
  void start(LinkSet peers, PacketSizes sizes, long nowNs) {
    if (links.length != peers.count()) {
      links = new LinkLoad[peers.count()];
      for (int i = 0; i < links.length; i++) {
        links[i] = new LinkLoad();
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

  boolean several() {
    return links.length > 1;
  }

  int count() {
    return links.length;
  }

  LinkLoad get(int link) {
    return links[link];
  }

  /**
   * Packets under way on this link; of a READ that is one at most, whatever numbers its responses
   * have.
   */
  int inFlight(int link) {
    return numbers.several() ? numbers.underWay(link) : outstanding.inFlight() - read.awaited();
  }

  /** How many more packets may be sent by this link. */
  int room(int link) {
    return links[link].window.packets() - inFlight(link);
  }

  /**
   * The link that the next train goes by, or {@link #NONE} while none has room.
   *
   * @param except the link that lost what is sent again, which takes it only where no other does;
   *     or {@link #NONE}
   */
  int choose(int except) {
    if (links.length == 1) {
      return room(0) > 0 ? 0 : NONE;
    }
    boolean weighted = anyWeighted();
    int best = NONE;
    for (int i = 0; i < links.length; i++) {
      LinkLoad link = links[i];
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
    /* Room for less than a train costs as much as a train. */
    return room >= links[link].window.smallest() / 2 || room > 0 && numbers.underWay(link) == 0;
  }

  /* Where nothing that carries weighs something, all that carry do alike. */
  private boolean anyWeighted() {
    for (LinkLoad link : links) {
      if (link.isUsable() && link.weight > 0) {
        return true;
      }
    }
    return false;
  }

  /** The link gets a train of so many bytes; {@code payload} of them for the first time. */
  void sent(int link, int bytes, int payload) {
    if (links.length == 1) {
      return;
    }
    LinkLoad to = links[link];
    to.sentBytes += payload;
    to.virtualTime += (long) bytes * SCALE / Math.max(1, to.weight);
    long total = 0;
    for (LinkLoad each : links) {
      total += each.weight;
    }
    long floor = to.virtualTime - MOST_LAG_BYTES * SCALE / Math.max(1, total);
    for (LinkLoad each : links) {
      each.virtualTime = Math.max(each.virtualTime, floor);
    }
  }

  /** Other weights hold; what was given under the old ones is no debt. */
  void weigh(int[] weights) {
    for (int i = 0; i < links.length; i++) {
      links[i].weight = weights[i];
      links[i].virtualTime = 0;
    }
  }

  /** An answer is about to be taken. */
  void beginAnswer() {
    unacknowledgedBefore = outstanding.unacknowledged();
    for (int i = 0; i < links.length; i++) {
      before[i] = inFlight(i);
    }
    if (numbers.several()) {
      numbers.clearArrivals();
    }
  }

  /**
   * It was taken.
   *
   * @param fresh numbers that weren't known to have arrived before
   * @return whether it says something new: that what bitmaps have told of is whole now, too, since
   *     nothing of it is to be asked about any more
   */
  boolean endAnswer(int fresh, long nowNs) {
    if (!numbers.several()) {
      links[0].window.acknowledged(fresh, before[0]);
    }
    for (int i = 0; numbers.several() && i < links.length; i++) {
      int arrived = numbers.arrivals(i);
      if (arrived > 0 && !links[i].isGone()) {
        links[i].news(nowNs);
        links[i].window.acknowledged(arrived, before[i]);
      }
    }
    return fresh > 0 || outstanding.unacknowledged() > unacknowledgedBefore;
  }

  /** A round trip was measured on this link. */
  void measured(int link, long sentAtNs, long nowNs, long waitedNs) {
    LinkLoad of = links[link];
    of.window.measured(sentAtNs, nowNs, waitedNs);
    of.roundTrip.sample(Math.max(1, nowNs - sentAtNs));
    if (links.length > 1 && of.isNews(sentAtNs)) {
      of.news(nowNs);
    }
  }

  /** A question has come through: this link carries wide packets. */
  void wideAnswered(int link, long nowNs) {
    if (!links[link].wide.passes()) {
      links[link].window.refit(wideMost, wideLeast);
    }
    links[link].wide.answered(nowNs);
  }

  /** Some of a wide train that went by this link has to be sent again. */
  void wideLost(int link, long nowNs) {
    if (links[link].wide.lost(nowNs)) {
      links[link].window.refit(narrowMost, narrowLeast);
    }
  }

  /** Something was lost on the links of this set, bit i for link i. */
  void lost(int set) {
    for (int left = set; left != 0; left &= left - 1) {
      links[Integer.numberOfTrailingZeros(left)].lost(
          outstanding.unacknowledged(), outstanding.next());
    }
  }

  /** Until everything that is outstanding is acknowledged a loss is no news. */
  void recover() {
    for (LinkLoad link : links) {
      link.recoverUntil(outstanding.next());
    }
  }

  /** Nothing was heard of any link for a whole timeout. */
  void allSilent() {
    for (int i = 0; i < links.length; i++) {
      if (links.length == 1 || numbers.underWay(i) > 0) {
        links[i].window.silent();
      }
    }
  }

  /** This link has been silent while others answered. */
  void silent(int link, long nowNs) {
    links[link].silent(anyUsableBut(link), nowNs);
  }

  /** Whether it is in use, and others are too. */
  boolean mayRest(int link) {
    return link < links.length && links[link].isUsable() && anyUsableBut(link);
  }

  private boolean anyUsableBut(int link) {
    boolean others = false;
    for (int i = 0; i < links.length; i++) {
      others |= i != link && links[i].isUsable();
    }
    return others;
  }

  /** Those of this set of several links that have answered nothing for as long as that may take. */
  int overdue(int set, long nowNs) {
    int overdue = 0;
    for (int left = links.length > 1 ? set : 0; left != 0; left &= left - 1) {
      int link = Integer.numberOfTrailingZeros(left);
      overdue |= links[link].isOverdue(nowNs) ? 1 << link : 0;
    }
    return overdue;
  }

  /**
   * The next link behind this one that may answer a question.
   *
   * @param whichever whether also one that rests: the others didn't answer
   */
  int next(int link, boolean whichever) {
    for (int i = 1; i <= links.length; i++) {
      int candidate = (link + i) % links.length;
      if (whichever ? !links[candidate].isAbsent() : links[candidate].isUsable()) {
        return candidate;
      }
    }
    return link;
  }

  /** What each of several has done. */
  List<LinkCounts> counts(LinkArrivals arrivals) {
    List<LinkCounts> counts = new ArrayList<>();
    for (int i = 0; links.length > 1 && i < links.length; i++) {
      LinkLoad load = links[i];
      counts.add(
          new LinkCounts(
              load.sentBytes,
              load.acknowledgedBytes,
              load.resentPackets,
              arrivals.receivedBytes(i),
              arrivals.ahead(i),
              load.silences(),
              load.isResting()));
    }
    return counts;
  }
}
