package io.heddle.roce.transport.requester;

import io.heddle.roce.transport.Completer;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.LinkArrivals;
import io.heddle.roce.transport.LinkSet;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.transport.responder.Responder;
import io.heddle.roce.transport.window.ReceiverNotReady;
import io.heddle.roce.transport.window.RetryTimer;
import io.heddle.roce.transport.window.RoundTrip;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sending half of a queue pair: sends trains, processes acknowledgements, retransmits losses and
 * completes requests in order. Under the progress lock.
 *
 * <p>Sequence numbers are {@code long}. A soft peer's bitmaps mark numbers in {@link Outstanding},
 * so only missing packets are retransmitted. A standard peer sends no bitmap, so the same code goes
 * back to the first missing number.
 */
public final class Requester {
  private static final int READ_PACKETS = 32;

  private final QueuePairEvents events;
  private final PacketOutlet outlet;
  private final Completer completer;
  private final SendQueue queue;
  private final TransmitRing ring;
  private final TrainBuilder builder;
  private final Counters counters;
  private final RoundTrip roundTrip = new RoundTrip();
  private final RetryTimer retries = new RetryTimer(roundTrip);
  private final SendTags tags = new SendTags();
  private final Outstanding outstanding;
  private final PendingRead read;
  private final LinkScheduler loads;
  private final LossDetector lossDetector;
  private final SlotSender sender;
  private final AcknowledgedSlots acknowledged;
  private final Losses losses;

  /*
   * Maximum number of outstanding packets: those that fit the peer's socket buffer and this end's
   * transmit ring. Each link also has a window.
   */
  private int window;
  private boolean softPeer;
  private int mtu;
  private long acknowledgeAt;

  private @Nullable PeerGroup peerGroup;
  private final PeerSilence silence = new PeerSilence();
  private final ReceiverNotReady receiverNotReady = new ReceiverNotReady();

  /**
   * @param memory memory for building packets
   * @param responder responder of the same queue pair; this requester's packets carry its
   *     acknowledgements
   */
  public Requester(
      QueuePairEvents events,
      PacketOutlet outlet,
      PacketMemory memory,
      SendQueue queue,
      Completer completer,
      MemoryRights rights,
      Responder responder,
      Counters counters) {
    this.events = events;
    this.outlet = outlet;
    this.queue = queue;
    this.completer = completer;
    this.counters = counters;
    ring = memory.ring();
    builder = new TrainBuilder(queue, rights, memory.icrcWriter());
    read = new PendingRead(rights, queue);
    outstanding = new Outstanding(ring);
    loads = new LinkScheduler(outstanding, read);
    lossDetector = new LossDetector(outstanding, ring, loads, tags);
    sender =
        new SlotSender(
            events, outlet, memory, builder, read, outstanding, loads, tags, responder, counters);
    losses = new Losses(events, outstanding, read, loads, tags, lossDetector);
    acknowledged =
        new AcknowledgedSlots(
            events,
            counters,
            ring,
            outstanding,
            read,
            loads,
            lossDetector,
            tags,
            roundTrip,
            sender,
            completer);
  }

  /**
   * @param links links to the peer; their narrow window bounds the outstanding packets
   * @param others queue pairs to the same peer, or null for none
   */
  public void start(
      ReadyToSendAttributes attributes,
      int remoteNumber,
      PacketSizes sizes,
      boolean peerIsSoft,
      LinkSet links,
      @Nullable PeerGroup others,
      long nowNs) {
    peerGroup = others;
    silence.start(others, nowNs);
    if (others != null) {
      others.join(this);
    }
    window = links.narrowWindow();
    builder.configure(sizes, peerIsSoft, remoteNumber, Math.min(window, READ_PACKETS));
    outstanding.start(attributes.sendPsn(), links.count());
    loads.start(links, sizes, nowNs);
    lossDetector.clear();
    mtu = sizes.mtuBytes();
    softPeer = peerIsSoft;
    roundTrip.reset();
    retries.reset(attributes, nowNs);
    tags.clear();
    acknowledgeAt = outstanding.next() + window / 2 - 1;
    receiverNotReady.start(attributes.receiverNotReadyRetryCount());
    sender.start(sizes, peerIsSoft);
    acknowledged.start(peerIsSoft);
    read.stop();
  }

  public static int readPackets() {
    return READ_PACKETS;
  }

  /** Returns the next time for {@link #onTimer}, or {@link Pause#NEVER_NS}. */
  public long dueNs() {
    long others = Math.min(receiverNotReady.dueNs(), sender.dueNs());
    return Math.min(Math.min(retries.dueNs(), lossDetector.dueNs()), others);
  }

  boolean isIdle() {
    return outstanding.isEmpty() && queue.completed() == queue.posted();
  }

  /**
   * Sends at most {@code trains} trains.
   *
   * @return whether sending stopped only because of that bound
   */
  public boolean transmit(long nowNs, int trains) {
    if (receiverNotReady.isWaiting() || sender.isBlocked()) {
      return false;
    }
    int left = trains;
    if (loads.hasSeveral()) {
      sender.probeRestingLinks(nowNs);
    }
    while ((outstanding.isAnyLost() || read.isLost()) && loads.choose(LinkScheduler.NONE) >= 0) {
      if (left-- == 0) {
        return true;
      }
      if (!sender.resendRun(nowNs)) {
        return false;
      }
    }
    if (builder.hasMore() && retries.unanswered() == 0) {
      sender.probeWidth(nowNs);
    }
    while (!outstanding.isAnyLost() && !read.isLost() && builder.hasMore() && mayBuild()) {
      int ahead = (int) (outstanding.next() - outstanding.unacknowledged());
      int link = loads.choose(LinkScheduler.NONE);
      int room = link < 0 ? 0 : Math.min(loads.room(link), window - ahead);
      if (room <= 0 || read.isActive() && builder.isNextRead()) {
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

  /*
   * Lets small requests through even if the ring has its full share of large trains: another
   * process may wait for them.
   */
  private boolean mayBuild() {
    return !ring.isFull() && (!ring.hasFullShare() || builder.isNextSmall());
  }

  private boolean sendNext(int link, int room, long nowNs) {
    boolean isRead = builder.isNextRead();
    long index = queue.started();
    int offset = builder.offset();
    long next = outstanding.next();
    int tag = softPeer ? tags.next(link, nowNs, false) : PacketFormat.NO_TAG;
    outlet.selectFlow(link);
    builder.cut(loads.get(link).wide.isPassing() && !outlet.isTooNarrow(link));
    long end = builder.build(ring, next, room, !softPeer, acknowledgeAt, tag);
    if (end == next) {
      /* The request may not access its memory. It fails once earlier requests have completed. */
      if (outstanding.isEmpty()) {
        failSend(Status.LOCAL_PROTECTION_ERROR);
      }
      return false;
    }
    if (outstanding.isEmpty()) {
      retries.onProgress(nowNs);
    }
    if (isRead) {
      boolean whole = queue.started() != index;
      int to = whole ? queue.lengthBytes(index) : builder.offset();
      read.begin(next, end, index, offset, to, nowNs);
    }
    if (end > acknowledgeAt) {
      acknowledgeAt = end - 1 + Math.max(1, Math.min(window, loads.get(link).window.packets()) / 2);
    }
    long slot = ring.tail() - 1;
    outstanding.sentTo(end, link);
    int bytes = ring.totalBytes(slot);
    loads.sent(link, bytes, ring.payloadBytes(slot));
    if (!retries.isRunning()) {
      armTimeout(nowNs);
    }
    return sender.sendNew(link, slot, nowNs);
  }

  /** Returns whether the next packet is small and can carry an acknowledgement. */
  public boolean canNextCarryAcknowledgement() {
    return softPeer
        && builder.isNextSmall()
        && !outstanding.isAnyLost()
        && !ring.isFull()
        && loads.choose(LinkScheduler.NONE) >= 0
        && !receiverNotReady.isWaiting()
        && !sender.isBlocked();
  }

  /**
   * Processes the tag of a soft peer's acknowledgement, before the acknowledgement itself.
   *
   * @param waitedNs longest time that the tagged packet may have waited in the peer's socket, plus
   *     the answer in this host's socket
   */
  public void onTag(int tag, long waitedNs, long nowNs) {
    acknowledged.onTag(tag, waitedNs, nowNs);
  }

  /** Processes an acknowledgement with a valid CRC. */
  public void onAcknowledge(
      int psn24, int syndrome, long bitmapAddress, int bitmapWords, long nowNs) {
    long psn = PacketFormat.expand(psn24, outstanding.unacknowledged());
    boolean positive = syndrome >> 5 == 0;
    long upTo = positive ? psn + 1 : psn;
    if (psn >= outstanding.next() || upTo < outstanding.unacknowledged()) {
      counters.drops().count(DropCounters.Reason.UNEXPECTED_RESPONSE);
      return;
    }
    loads.beginAcknowledgement();
    int fresh = acknowledged.advance(upTo, nowNs);
    if (events.isInError()) {
      return;
    }
    if (bitmapWords > 0) {
      counters.spuriouslyResent(lossDetector.arrivedIn(upTo, bitmapAddress, bitmapWords, nowNs));
      fresh += outstanding.acknowledgeBitmap(upTo, bitmapAddress, bitmapWords);
    }
    boolean news = loads.endAcknowledgement(fresh, nowNs);
    losses.onAcknowledgement(bitmapWords > 0, nowNs);
    if (news) {
      onProgress(nowNs);
    }
    if (!positive && psn >= outstanding.unacknowledged()) {
      onNegative(psn, syndrome, nowNs);
    }
  }

  /** Takes a link out of use, because the host reports it down. */
  public void linkLost(int link, long nowNs) {
    losses.linkLost(link, nowNs);
  }

  private void onProgress(long nowNs) {
    if (retries.unanswered() > 0) {
      silence.end();
    }
    retries.onProgress(nowNs);
    receiverNotReady.onProgress();
    armTimeout(nowNs);
  }

  private void armTimeout(long nowNs) {
    if (outstanding.isEmpty()) {
      retries.stop();
    } else {
      retries.arm(nowNs);
      events.timerAt(retries.dueNs());
    }
  }

  private void onNegative(long psn, int syndrome, long nowNs) {
    if (syndrome >> 5 == 1) {
      if (receiverNotReady.isWaiting()) {
        return;
      }
      if (!receiverNotReady.canWait()) {
        failSend(Status.RECEIVER_NOT_READY_RETRY_EXCEEDED);
        return;
      }
      losses.markLostFrom(psn);
      receiverNotReady.waitUntil(nowNs + PacketFormat.receiverNotReadyNs(syndrome & 31));
      retries.stop();
      events.timerAt(receiverNotReady.dueNs());
      return;
    }
    switch (syndrome) {
      case PacketFormat.SYNDROME_SEQUENCE_ERROR -> {
        losses.markLostFrom(psn);
        losses.onLosses(1);
      }
      case PacketFormat.SYNDROME_INVALID_REQUEST -> failSend(Status.REMOTE_INVALID_REQUEST_ERROR);
      case PacketFormat.SYNDROME_REMOTE_ACCESS -> failSend(Status.REMOTE_ACCESS_ERROR);
      case PacketFormat.SYNDROME_REMOTE_OPERATION -> failSend(Status.REMOTE_OPERATION_ERROR);
      default -> counters.drops().count(DropCounters.Reason.BAD_HEADER);
    }
  }

  /** Processes a READ response with a valid CRC. */
  public void onReadResponse(int opcode, int psn24, long payload, int payloadBytes, long nowNs) {
    long psn = PacketFormat.expand(psn24, outstanding.unacknowledged());
    if (!read.expects(psn, payloadBytes, mtu)) {
      counters.drops().count(DropCounters.Reason.UNEXPECTED_RESPONSE);
      if (read.showsLoss(psn, roundTrip.smoothedNs(), nowNs)) {
        read.markLost();
        events.activate();
      }
      return;
    }
    read.measure(roundTrip, opcode, psn, nowNs);
    /* A READ response acknowledges everything sent before its request. */
    loads.beginAcknowledgement();
    int fresh = acknowledged.advance(psn, nowNs);
    if (events.isInError()) {
      return;
    }
    if (!read.take(payload, payloadBytes)) {
      failSend(Status.LOCAL_PROTECTION_ERROR);
      return;
    }
    fresh += acknowledged.advance(read.coveredEnd(), nowNs);
    if (events.isInError()) {
      return;
    }
    loads.endAcknowledgement(fresh, nowNs);
    onProgress(nowNs);
    events.activate();
  }

  /** Serves due timers, and activates the queue pair if there is something to send. */
  public void onTimer(long nowNs) {
    if (receiverNotReady.isOver(nowNs)) {
      armTimeout(nowNs);
      events.activate();
    }
    if (sender.endBlockIfDue(nowNs)) {
      events.activate();
    }
    losses.onTimer(nowNs);
    if (retries.isDue(nowNs)) {
      onTimeout(nowNs);
    }
  }

  /**
   * Handles a timeout. Usually the peer only waits for its core, or the answer is queued, and
   * retransmitting everything would lengthen the queue. So a soft peer is probed with the oldest
   * packet. Packets sent before the probe are lost if the probe's answer doesn't cover them. A
   * standard peer's answer doesn't cover packets after a gap, so everything is retransmitted, in a
   * small window.
   */
  private void onTimeout(long nowNs) {
    retries.onExpiry(
        silence.peerHeardAtNs(),
        peerGroup == null ? reachedAtNs() : peerGroup.reachedAtNs(),
        nowNs);
    if (retries.isExhausted(nowNs)) {
      failSend(Status.RETRY_EXCEEDED);
      return;
    }
    if (silence.onTimeout(retries, nowNs)) {
      counters.waitsForPeer();
    }
    int unanswered = retries.timedOut();
    counters.timedOut();
    if (!softPeer || unanswered > 1) {
      loads.onSilenceOfAll();
    }
    if (softPeer) {
      sender.probe(retries.unanswered(), nowNs);
    } else {
      loads.recover();
      losses.markLostFrom(outstanding.unacknowledged());
    }
    if (unanswered > 1 && peerGroup != null) {
      peerGroup.probe(nowNs);
    }
    armTimeout(nowNs);
    events.activate();
  }

  /** Completes the oldest send request with an error, and moves the queue pair to ERROR. */
  private void failSend(Status status) {
    if (!events.isInError() && completer.failOldestSend(status)) {
      events.fail(AsyncEventListener.Kind.QUEUE_PAIR_FATAL);
    }
  }

  /** Records a packet from the peer. */
  public void onPeerPacket(long nowNs) {
    silence.onPeerPacket(nowNs);
  }

  long heardAtNs() {
    return silence.heardAtNs();
  }

  /**
   * Returns the send time of the newest packet that the peer is known to have; for a standard peer,
   * which doesn't report it, the time of the peer's last packet.
   */
  long reachedAtNs() {
    return softPeer ? tags.newestAnsweredNs() : silence.heardAtNs();
  }

  /** Returns the peer's silence; see {@link QueuePair#peerSilentNs}. */
  public long peerSilentNs(long nowNs) {
    return silence.lengthNs(nowNs);
  }

  /** Probes the peer if this queue pair is idle. */
  void probeIfIdle(long nowNs) {
    if (outstanding.isEmpty() && !sender.isBlocked()) {
      sender.probePeer(nowNs);
    }
  }

  /** Returns the number of retransmitted packets. Any thread may call this. */
  public long resentPackets() {
    return sender.resentPackets();
  }

  /** Sets the weights of the links, in order of their numbers. */
  public void setLinkWeights(int[] weights) {
    if (weights.length == loads.count()) {
      loads.setWeights(weights);
    }
  }

  /** Returns the counters of each link; empty before {@link #start}, or with one link. */
  public List<LinkCounts> linkCounts(LinkArrivals arrivals) {
    return loads.hasSeveral() ? loads.counts(arrivals) : List.of();
  }

  /** Clears all outstanding packets and timers. */
  public void stop() {
    if (peerGroup != null) {
      peerGroup.leave(this);
    }
    retries.stop();
    receiverNotReady.stop();
    sender.stop();
    read.stop();
    outstanding.stop();
    lossDetector.clear();
    builder.restart();
    silence.end();
  }
}
