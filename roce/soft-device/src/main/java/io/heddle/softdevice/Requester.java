package io.heddle.softdevice;

import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.List;

/**
 * The sending half of a queue pair: sends trains, takes acknowledgements, sends again what was
 * lost, and completes requests in order. Under the progress lock.
 *
 * <p>Sequence numbers are {@code long}. Between soft peers the responder's bitmaps mark numbers in
 * {@link Outstanding}, and only what is missing is sent again; a standard peer sends no bitmap, so
 * the same code goes back to the first missing number.
 */
final class Requester {
  /** Never due. Far enough away for compare by subtraction. */
  static final long NEVER_NS = Long.MAX_VALUE / 2;

  private static final int READ_PACKETS = 32;

  private final SoftQueuePair qp;
  private final PacketExit exit;
  private final SendQueue queue;
  private final TransmitRing ring;
  private final TrainBuilder builder;
  private final Counters counters;
  private final RoundTrip roundTrip = new RoundTrip();
  private final RetryTimer retries = new RetryTimer(roundTrip);
  private final SendTags tags = new SendTags();
  private final Outstanding outstanding;
  private final PendingRead read;
  private final LinkLoads loads;
  private final SlotSender sender;

  /* Numbers that may be outstanding, by the room that either end has; how many a link takes is its own window's to say. */
  private int window;
  private boolean softPeer;
  private int mtu;
  private long acknowledgeAt;

  private final ReceiverNotReady receiverNotReady = new ReceiverNotReady();

  /* Since when the peer is silent on all ways, where that alone keeps this one from being given up; else NEVER_NS. */
  private volatile long silentSinceNs = NEVER_NS;

  Requester(
      SoftQueuePair qp,
      PacketExit exit,
      SendQueue queue,
      TransmitRing ring,
      TrainBuilder builder,
      PendingRead read,
      Counters counters) {
    this.qp = qp;
    this.exit = exit;
    this.read = read;
    this.queue = queue;
    this.ring = ring;
    this.builder = builder;
    this.counters = counters;
    outstanding = new Outstanding(ring);
    loads = new LinkLoads(outstanding, read);
    sender = new SlotSender(qp, exit, ring, builder, read, outstanding, loads, tags, counters);
  }

  /**
   * @param packetWindow numbers that may be outstanding at most
   */
  void start(
      ReadyToSendAttributes attributes,
      PacketSizes sizes,
      boolean peerIsSoft,
      int packetWindow,
      PeerLinks links,
      long nowNs) {
    outstanding.start(attributes.sendPsn(), links.count());
    loads.start(links, sizes, nowNs);
    mtu = sizes.mtuBytes();
    softPeer = peerIsSoft;
    window = packetWindow;
    roundTrip.reset();
    retries.reset(attributes, nowNs);
    tags.clear();
    acknowledgeAt = outstanding.next() + window / 2 - 1;
    receiverNotReady.start(attributes.receiverNotReadyRetryCount());
    sender.start(sizes, peerIsSoft);
    read.stop();
  }

  static int readPackets() {
    return READ_PACKETS;
  }

  /** When {@link #onTimer} has something to do, or {@link #NEVER_NS}. */
  long dueNs() {
    return Math.min(retries.dueNs(), Math.min(receiverNotReady.dueNs(), sender.dueNs()));
  }

  boolean idle() {
    return outstanding.isEmpty() && queue.completed() == queue.posted();
  }

  /**
   * Sends at most {@code trains} trains.
   *
   * @return whether it stopped only because of that bound
   */
  boolean transmit(long nowNs, int trains) {
    if (receiverNotReady.isWaiting() || sender.isBlocked()) {
      return false;
    }
    int left = trains;
    if (loads.several()) {
      sender.tryResting(nowNs);
    }
    while ((outstanding.anyLost() || read.isLost()) && loads.choose(LinkLoads.NONE) >= 0) {
      if (left-- == 0) {
        return true;
      }
      if (!sender.resendRun(nowNs)) {
        return false;
      }
    }
    if (builder.hasMore() && retries.unanswered() == 0) {
      sender.askForWidth(nowNs);
    }
    while (!outstanding.anyLost() && !read.isLost() && builder.hasMore() && mayBuild()) {
      int ahead = (int) (outstanding.next() - outstanding.unacknowledged());
      int link = loads.choose(LinkLoads.NONE);
      int room = link < 0 ? 0 : Math.min(loads.room(link), window - ahead);
      if (room <= 0 || read.isActive() && builder.nextIsRead()) {
        return false;
      }
      if (left-- == 0) {
        return true;
      }
      if (!sendNext(link, room, nowNs)) {
        return false;
      }
    }
    return false;
  }

  /* What is small leaves though the ring has its share of large trains: another may be waiting for it. */
  private boolean mayBuild() {
    return !ring.isFull() && (!ring.hasItsShare() || builder.nextIsSmall());
  }

  private boolean sendNext(int link, int room, long nowNs) {
    boolean isRead = builder.nextIsRead();
    long index = queue.started();
    int offset = builder.offset();
    long next = outstanding.next();
    int tag = softPeer ? tags.next(link, nowNs, false) : PacketFormat.NO_TAG;
    exit.sealFor(link);
    builder.cut(loads.get(link).wide.passes() && !exit.isTooNarrow(link));
    long end = builder.build(ring, next, room, !softPeer, acknowledgeAt, tag);
    if (end == next) {
      /* Not allowed its local memory: fails in its turn, when everything before it has completed. */
      if (outstanding.isEmpty()) {
        qp.failSend(Status.LOCAL_PROTECTION_ERROR);
      }
      return false;
    }
    if (outstanding.isEmpty()) {
      retries.news(nowNs);
    }
    if (isRead) {
      boolean whole = queue.started() != index;
      read.begin(next, end, index, offset, whole ? queue.lengthBytes(index) : builder.offset());
    }
    if (end > acknowledgeAt) {
      acknowledgeAt = end - 1 + Math.max(1, Math.min(window, loads.get(link).window.packets()) / 2);
    }
    long slot = ring.tail() - 1;
    outstanding.sentTo(end, link);
    int bytes = ring.totalBytes(slot);
    loads.sent(link, bytes, payload(slot));
    if (!retries.isRunning()) {
      armTimeout(nowNs);
    }
    return sender.sendNew(link, slot, nowNs);
  }

  /* To within the four bytes of an immediate. */
  private int payload(long slot) {
    return ring.totalBytes(slot) - ring.packets(slot) * PacketFormat.WRITE_ONLY_BYTES;
  }

  /** Whether a small packet is to leave next, behind which an acknowledgement fits. */
  boolean nextCarries() {
    return softPeer
        && builder.nextIsSmall()
        && !outstanding.anyLost()
        && !ring.isFull()
        && loads.choose(LinkLoads.NONE) >= 0
        && !receiverNotReady.isWaiting()
        && !sender.isBlocked();
  }

  /**
   * Takes the tag of an acknowledgement of a soft peer, before the acknowledgement itself.
   *
   * @param waitedNs how long the tagged packet there and its answer here may have lain in sockets
   */
  void onTag(int tag, long waitedNs, long nowNs) {
    if (tags.answer(tag)) {
      if (tags.isQuestion(tag)) {
        loads.wideAnswered(tags.link(tag), nowNs);
      }
      measured(tags.link(tag), tags.sentAtNs(tag), nowNs, waitedNs);
    }
  }

  private void measured(int link, long sentAtNs, long nowNs, long waitedNs) {
    roundTrip.sample(Math.max(1, nowNs - sentAtNs));
    loads.measured(link, sentAtNs, nowNs, waitedNs);
  }

  /** Takes an acknowledgement whose CRC was right. */
  void onAcknowledge(int psn24, int syndrome, long bitmapAddress, int bitmapWords, long nowNs) {
    long psn = PacketFormat.expand(psn24, outstanding.unacknowledged());
    boolean positive = syndrome >> 5 == 0;
    long upTo = positive ? psn + 1 : psn;
    if (psn >= outstanding.next() || upTo < outstanding.unacknowledged()) {
      counters.drops().count(DropCounters.Reason.UNEXPECTED_RESPONSE);
      return;
    }
    loads.beginAnswer();
    int fresh = advance(upTo, nowNs);
    if (qp.isDead()) {
      return;
    }
    if (bitmapWords > 0) {
      fresh += outstanding.takeBitmap(upTo, bitmapAddress, bitmapWords);
    }
    loads.endAnswer(fresh, nowNs);
    if (bitmapWords > 0) {
      lossSeen(outstanding.loseMissing(tags));
    }
    long probe = tags.takeAnsweredProbe();
    if (probe > 0) {
      int losers = outstanding.loseSentBefore(probe, loads, nowNs);
      lossSeen(losers);
      leaveSilent(loads.overdue(losers, nowNs), nowNs);
    }
    if (loads.several() && !outstanding.isEmpty()) {
      leaveSilent(outstanding.silentLinks(loads, tags, nowNs), nowNs);
    }
    if (fresh > 0) {
      newsArrived(nowNs);
    }
    if (!positive && psn >= outstanding.unacknowledged()) {
      onNegative(psn, syndrome, nowNs);
    }
  }

  private void leaveSilent(int links, long nowNs) {
    for (int left = links; left != 0; left &= left - 1) {
      int link = Integer.numberOfTrailingZeros(left);
      outstanding.loseBy(link);
      loads.silent(link, nowNs);
      qp.activate();
    }
  }

  /** The host knows that this link carries nothing. */
  void linkLost(int link, long nowNs) {
    if (loads.mayRest(link)) {
      leaveSilent(1 << link, nowNs);
      loads.get(link).gone(nowNs);
      qp.timerAt(nowNs); /* where nobody makes progress, the device does */
    }
  }

  private void newsArrived(long nowNs) {
    if (retries.unanswered() > 0) {
      silentSinceNs = NEVER_NS;
    }
    retries.news(nowNs);
    receiverNotReady.news();
    armTimeout(nowNs);
  }

  private void armTimeout(long nowNs) {
    if (outstanding.isEmpty()) {
      retries.stop();
    } else {
      retries.arm(nowNs);
      qp.timerAt(retries.dueNs());
    }
  }

  /**
   * Returns how many numbers weren't known to have arrived. May end the queue pair: a completion
   * may overrun its queue.
   */
  private int advance(long upTo, long nowNs) {
    long to = read.bound(upTo);
    if (to <= outstanding.unacknowledged()) {
      return 0;
    }
    int fresh = outstanding.advance(to);
    while (ring.head() < ring.tail() && ring.endPsn(ring.head()) <= to) {
      long slot = ring.head();
      boolean newest = slot + 1 == ring.tail() || ring.endPsn(slot + 1) > to;
      if (newest && ring.sends(slot) == 1) {
        arrived(slot, nowNs);
      }
      LinkLoad load = loads.get(ring.link(slot));
      load.acknowledgedBytes += payload(slot);
      if (ring.sends(slot) == 1 && sender.isWide(slot)) {
        load.wide.carried();
      }
      ring.removeHead();
    }
    completeRequests();
    return fresh;
  }

  /* Of a slot that was sent once. Where there are tags they say more, but READs have none. */
  private void arrived(long slot, long nowNs) {
    if (ring.isRead(slot)) {
      roundTrip.sample(Math.max(1, nowNs - ring.sentAtNs(slot)));
    } else if (!softPeer) {
      measured(0, ring.sentAtNs(slot), nowNs, qp.waitedNs());
    }
  }

  private void completeRequests() {
    long upTo = outstanding.unacknowledged();
    for (long index = queue.completed();
        index < queue.started() && queue.lastPsn(index) < upTo;
        index = queue.completed()) {
      boolean signalled = queue.signalled(index);
      long id = queue.id(index);
      Kind kind = Completer.kind(queue.operation(index));
      int lengthBytes = queue.lengthBytes(index);
      /* Freed first: a completion that overruns its queue ends this queue pair before it returns. */
      queue.complete();
      if (signalled) {
        qp.completer().send(id, Status.SUCCESS, kind, lengthBytes);
      }
    }
  }

  /* On the links of this set. */
  private void lossSeen(int links) {
    if (links != 0) {
      loads.lost(links);
      qp.activate();
    }
  }

  private void onNegative(long psn, int syndrome, long nowNs) {
    if (syndrome >> 5 == 1) {
      if (receiverNotReady.isWaiting()) {
        return;
      }
      if (!receiverNotReady.mayWait()) {
        qp.failSend(Status.RECEIVER_NOT_READY_RETRY_EXCEEDED);
        return;
      }
      loseFrom(psn);
      receiverNotReady.waitUntil(nowNs + PacketFormat.receiverNotReadyNs(syndrome & 31));
      retries.stop();
      qp.timerAt(receiverNotReady.dueNs());
      return;
    }
    switch (syndrome) {
      case PacketFormat.SYNDROME_SEQUENCE_ERROR -> {
        loseFrom(psn);
        lossSeen(1);
      }
      case PacketFormat.SYNDROME_INVALID_REQUEST ->
          qp.failSend(Status.REMOTE_INVALID_REQUEST_ERROR);
      case PacketFormat.SYNDROME_REMOTE_ACCESS -> qp.failSend(Status.REMOTE_ACCESS_ERROR);
      case PacketFormat.SYNDROME_REMOTE_OPERATION -> qp.failSend(Status.REMOTE_OPERATION_ERROR);
      default -> counters.drops().count(DropCounters.Reason.BAD_HEADER);
    }
  }

  private void loseFrom(long psn) {
    outstanding.loseFrom(psn);
    read.loseIfEndsBehind(psn);
  }

  /** Takes a response to a READ whose CRC was right. */
  void onReadResponse(int opcode, int psn24, long payload, int payloadBytes, long nowNs) {
    long psn = PacketFormat.expand(psn24, outstanding.unacknowledged());
    if (!read.expects(psn, payloadBytes, mtu)) {
      counters.drops().count(DropCounters.Reason.UNEXPECTED_RESPONSE);
      return;
    }
    /* A response acknowledges everything before its request. */
    loads.beginAnswer();
    int fresh = advance(psn, nowNs);
    if (qp.isDead()) {
      return;
    }
    if (!read.take(payload, payloadBytes)) {
      qp.failSend(Status.LOCAL_PROTECTION_ERROR);
      return;
    }
    fresh += advance(read.psn(), nowNs);
    if (qp.isDead()) {
      return;
    }
    loads.endAnswer(fresh, nowNs);
    newsArrived(nowNs);
    qp.activate();
  }

  /** Serves what is due, and activates the queue pair where there is something to send. */
  void onTimer(long nowNs) {
    if (receiverNotReady.isOver(nowNs)) {
      armTimeout(nowNs);
      qp.activate();
    }
    if (sender.endBlockIfDue(nowNs)) {
      qp.activate();
    }
    if (retries.isDue(nowNs)) {
      onTimeout(nowNs);
    }
  }

  /**
   * More often than not the peer only waits for its core, or the answer stands in a queue, and
   * sending everything again would only make that longer. So a soft peer is asked by one packet,
   * the oldest: what had been sent before and hasn't come with the answer is lost, and till then
   * nothing is sent in vain. A standard peer's answer says nothing of later packets, so there
   * everything goes out again, in a small window.
   */
  private void onTimeout(long nowNs) {
    long heardAtNs = qp.peerHeardAtNs();
    retries.served(heardAtNs, nowNs);
    if (retries.isExhausted(nowNs)) {
      qp.failSend(Status.RETRY_EXCEEDED);
      return;
    }
    judgeSilence(heardAtNs, nowNs);
    int unanswered = retries.timedOut();
    counters.timedOut();
    if (!softPeer || unanswered > 1) {
      loads.allSilent();
    }
    if (softPeer) {
      sender.probe(retries.unanswered(), nowNs);
    } else {
      loads.recover();
      loseFrom(outstanding.unacknowledged());
    }
    if (unanswered > 1) {
      qp.askCompanions(nowNs);
    }
    armTimeout(nowNs);
    qp.activate();
  }

  private void judgeSilence(long heardAtNs, long nowNs) {
    long since = NEVER_NS;
    if (retries.isHeld(nowNs)) {
      long news = retries.newsAtNs();
      since = heardAtNs - news > 0 ? heardAtNs : news;
      if (silentSinceNs == NEVER_NS) {
        counters.waitsForPeer();
      }
    }
    silentSinceNs = since;
  }

  /** See {@link SoftQueuePair#peerSilentNs}. */
  long peerSilentNs(long nowNs) {
    long since = silentSinceNs;
    return since == NEVER_NS ? 0 : Math.max(1, nowNs - since);
  }

  /** Asks the peer whether it is there, where nothing else asks it. */
  void askIfIdle(long nowNs) {
    if (outstanding.isEmpty() && !sender.isBlocked()) {
      sender.askWhetherThere(nowNs);
    }
  }

  /** Packets that were sent again. Any thread. */
  long resentPackets() {
    return sender.resentPackets();
  }

  /** How the links share what is sent, in order. */
  void weighLinks(int[] weights) {
    if (weights.length == loads.count()) {
      loads.weigh(weights);
    }
  }

  /** What each link has done; none before {@link #start}, or with one. */
  List<LinkCounts> linkCounts(PeerLinks links) {
    return links.count() == 1 ? List.of() : loads.counts(links);
  }

  /** Stops for good: nothing is outstanding and no timer runs. */
  void stop() {
    retries.stop();
    receiverNotReady.stop();
    sender.stop();
    read.stop();
    outstanding.stop();
    builder.restart();
    silentSinceNs = NEVER_NS;
  }
}
