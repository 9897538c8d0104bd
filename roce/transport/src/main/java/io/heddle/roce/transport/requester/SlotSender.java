package io.heddle.roce.transport.requester;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.transport.responder.Responder;
import io.heddle.roce.transport.window.TrainPath;
import io.heddle.roce.transport.window.WidePathProbe;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.PathMtu;

/**
 * Sender of the trains in a queue pair's transmit ring: first transmissions, retransmissions and
 * probes. Used under the progress lock.
 */
final class SlotSender {
  private final QueuePairEvents events;
  private final PacketOutlet outlet;
  private final PacketMemory memory;
  private final Responder responder;
  private final TransmitRing ring;
  private final TrainBuilder builder;
  private final PendingRead read;
  private final Outstanding outstanding;
  private final LostRun lost;
  private final LinkScheduler scheduler;
  private final SendTags tags;
  private final PieceSender pieces;
  private final Counters counters;
  private PacketSizes sizes = PacketSizes.standard(PathMtu.MTU_1024);
  private volatile long resentPackets;
  private boolean softPeer;
  private int lastProbedLink;

  /* Pause of sending, which runs after the socket was full. */
  private final Pause blocked = new Pause();

  SlotSender(
      QueuePairEvents events,
      PacketOutlet outlet,
      PacketMemory memory,
      TrainBuilder builder,
      PendingRead read,
      Outstanding outstanding,
      LinkScheduler scheduler,
      SendTags tags,
      Responder responder,
      Counters counters) {
    this.events = events;
    this.outlet = outlet;
    this.memory = memory;
    this.responder = responder;
    ring = memory.ring();
    this.builder = builder;
    this.read = read;
    this.outstanding = outstanding;
    this.scheduler = scheduler;
    this.tags = tags;
    this.counters = counters;
    lost = new LostRun(ring, outstanding);
    pieces = new PieceSender(outlet, memory);
  }

  void start(PacketSizes agreed, boolean peerIsSoft) {
    sizes = agreed;
    softPeer = peerIsSoft;
    lastProbedLink = 0;
    blocked.end();
  }

  void stop() {
    blocked.end();
  }

  /** Returns whether sending pauses, since the socket was full. */
  boolean isBlocked() {
    return blocked.isRunning();
  }

  /** Ends the pause of sending if its end is due. Returns whether it was due. */
  boolean endBlockIfDue(long nowNs) {
    return blocked.endIfDue(nowNs);
  }

  /** Returns the end of the pause, or {@link Pause#NEVER_NS}. */
  long dueNs() {
    return blocked.dueNs();
  }

  /** Sends a slot's train for the first time. Returns false when the socket is full. */
  boolean sendNew(int link, long slot, long nowNs) {
    return sendSlot(link, slot, ring.address(slot), 0, ring.packets(slot), nowNs);
  }

  /**
   * Sends packets {@code [from, to)} of a slot, or of the slot's copy, at this address. If the
   * socket is full, the packets count as lost and are sent later.
   */
  private boolean sendSlot(int link, long slot, long address, int from, int to, long nowNs) {
    int segment = ring.segmentBytes(slot);
    int begin = from * segment;
    int end = to == ring.packets(slot) ? ring.totalBytes(slot) : to * segment;
    ring.recordSent(slot, link, tags.sent(), nowNs);
    int carried = to == ring.packets(slot) ? appendAcknowledgement(slot, address, nowNs) : 0;
    if (transmit(link, slot, address + begin, end - begin + carried, nowNs)) {
      if (carried > 0) {
        responder.onCarried();
      }
      counters.sent(to - from, end - begin);
      return true;
    }
    ring.undoSent(slot);
    if (ring.isRead(slot)) {
      read.markLost();
    } else {
      outstanding.markPacketsLost(slot, from, to);
    }
    return block(nowNs);
  }

  /*
   * Sends packets as one train or singly. Only a first transmission may be zero-copy or bundled,
   * since its memory stays unchanged until it is acknowledged.
   */
  private boolean transmit(int link, long slot, long address, int bytes, long nowNs) {
    int segment = ring.segmentBytes(slot);
    if (bytes > segment) {
      boolean inOne = isSentAsTrain(link, slot, bytes, nowNs);
      ring.setSentAsTrain(slot, inOne);
      if (!inOne) {
        return sendPacketsSingly(link, address, bytes, segment);
      }
    }
    if (ring.sends(slot) > 1) {
      return outlet.send(link, address, bytes, segment);
    }
    PacketOutlet.Outcome outcome = outlet.sendRetained(link, address, bytes, segment);
    if (outcome == PacketOutlet.Outcome.ZERO_COPY) {
      ring.markZeroCopy(slot);
    } else if (outcome == PacketOutlet.Outcome.BUNDLED) {
      ring.markBundled(slot);
    }
    return outcome != PacketOutlet.Outcome.FULL;
  }

  private boolean isSentAsTrain(int link, long slot, int bytes, long nowNs) {
    TrainPath trains = scheduler.get(link).trains;
    return ring.sends(slot) > 1
        ? ring.sends(slot) == 2 && !trains.isInDoubt()
        : !trains.sendsSinglePackets() || trains.beginTrial(slot, bytes, nowNs);
  }

  /*
   * Sends packets one by one. If the socket becomes full midway, all packets are sent again later.
   * The peer ignores the duplicates.
   */
  private boolean sendPacketsSingly(int link, long address, int bytes, int segment) {
    for (int at = 0; at < bytes; at += segment) {
      if (!outlet.send(link, address + at, Math.min(segment, bytes - at), segment)) {
        return false;
      }
    }
    return true;
  }

  private boolean block(long nowNs) {
    blocked.begin(nowNs + Pause.FULL_SOCKET_NS);
    events.timerAt(blocked.dueNs());
    return false;
  }

  /** Returns whether a slot has packets wider than the path MTU. */
  private boolean isWide(long slot) {
    return ring.segmentBytes(slot) > sizes.narrowPacketBytes();
  }

  /** Updates the path state from a fully acknowledged slot, before it is removed. */
  void acknowledged(LinkState state, long slot, long nowNs) {
    if (ring.sends(slot) == 1) {
      if (isWide(slot)) {
        state.wide.carried();
      }
      if (ring.wasSentAsTrain(slot)) {
        state.trains.carried(slot, ring.totalBytes(slot));
      }
    }
    state.trains.removed(slot, nowNs);
  }

  /** Sends a width probe on each link where a probe is due. */
  void probeWidth(long nowNs) {
    for (int link = 0; link < scheduler.count(); link++) {
      WidePathProbe wide = scheduler.get(link).wide;
      if (wide.isProbeDue(nowNs)) {
        boolean leaves = outlet.canPass(link, sizes.sentWriteBytes());
        wide.onProbe(leaves, nowNs);
        if (leaves) {
          int widest = sizes.sentWriteBytes() + PacketFormat.IMMEDIATE_BYTES;
          sendProbe(link, widest, tags.nextWidthProbe(link, nowNs));
        }
      }
    }
  }

  /** Processes the answer to something sent at this time on this link. */
  void answered(int link, long sentAtNs, long nowNs) {
    LinkState state = scheduler.get(link);
    if (state.wide.onLaterAnswer(sentAtNs)) {
      outlet.warnNarrowPath(link, sizes);
    }
    if (state.trains.answered(sentAtNs, nowNs)) {
      outlet.warnSinglePackets(link);
    }
  }

  /**
   * Probes the peer on each link. Any peer answers, since the probe has the sequence number of a
   * packet that the peer has executed.
   */
  void probePeer(long nowNs) {
    for (int link = 0; link < scheduler.count(); link++) {
      sendProbe(link, 0, softPeer ? tags.next(link, nowNs, false) : PacketFormat.NO_TAG);
    }
  }

  /* Sends a probe. If the socket is full, the probe is lost. */
  private void sendProbe(int link, int payload, int tag) {
    outlet.selectFlow(link);
    tags.sent();
    long psn = outstanding.unacknowledged() - 1;
    int bytes = builder.writeProbe(memory.scratch(), psn, payload, tag);
    outlet.send(link, memory.scratch(), bytes, bytes);
  }

  /*
   * Appends an acknowledgement to a train if possible; returns its bytes. Only the last packet of a
   * train may be shorter, so all packets before the acknowledgement must have the same length.
   */
  private int appendAcknowledgement(long slot, long address, long nowNs) {
    int bytes = ring.totalBytes(slot);
    int segment = ring.segmentBytes(slot);
    int packets = ring.packets(slot);
    if (!softPeer || packets == PacketSizes.TRAIN_PACKETS || bytes != packets * segment) {
      return 0;
    }
    int most = Math.min(segment, TransmitRing.SLOT_BYTES - bytes);
    return responder.append(address + bytes, most, nowNs);
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // only the progress lock's holder writes
  private void countResent(int packets) {
    resentPackets += packets;
    counters.resent(packets);
  }

  /** Returns the number of retransmitted packets. Any thread may call this. */
  long resentPackets() {
    return resentPackets;
  }

  /**
   * Retransmits the first run of lost packets, with an acknowledge request at its end. Returns
   * false when the socket is full.
   */
  boolean resendRun(long nowNs) {
    if (lost.find(read.isLost())) {
      return lost.isRead()
          ? resendRead(chooseOtherLink(ring.link(lost.slot())), lost.slot(), nowNs)
          : resendLost(lost.slot(), lost.from(), lost.to(), nowNs);
    }
    if (read.isLost()) {
      read.onRequestRepeated(); /* the READ's last response has arrived */
      return true;
    }
    throw new IllegalStateException(
        outstanding.lostCount() + " packets count as lost, but none is marked in the ring");
  }

  /* Returns a link other than the one that lost the packets, if another has room. */
  private int chooseOtherLink(int before) {
    return scheduler.choose(scheduler.hasSeveral() ? before : LinkScheduler.NONE);
  }

  private boolean resendLost(long slot, int from, int to, long nowNs) {
    int before = outstanding.links().link(ring.firstPsn(slot) + from);
    int link = chooseOtherLink(before);
    scheduler.get(before).resentPackets += to - from;
    return resend(link, slot, from, to, nowNs, false);
  }

  private boolean resend(int link, long slot, int from, int to, long nowNs, boolean probe) {
    if (from <= 1 && to - from > 0 && to == ring.packets(slot) && ring.wasSentAsTrain(slot)) {
      /*
       * All packets of a train that was sent as one datagram are lost. The run may lack the first
       * packet of the oldest train, since that packet was already sent again as a probe.
       */
      scheduler
          .get(ring.link(slot))
          .trains
          .lost(slot, ring.totalBytes(slot), ring.sentAtNs(slot), nowNs);
    }
    long first = ring.firstPsn(slot);
    outstanding.retransmitted(first + from, first + to, link);
    scheduler.sent(link, (to - from) * ring.segmentBytes(slot), 0);
    if (isWide(slot) && ring.sends(slot) > 0) {
      if (ring.sends(slot) == 1) {
        scheduler.wideLost(ring.link(slot), nowNs);
      }
      return resendInPieces(link, slot, from, to, nowNs, probe);
    }
    long address = modifiableAddress(slot, from, to);
    reseal(link, slot, address, from, to, nowNs, probe);
    countResent(to - from);
    return sendSlot(link, slot, address, from, to, nowNs);
  }

  /*
   * Resends packets, wide ones in pieces: a lost wide packet may have been too wide for its path.
   */
  private boolean resendInPieces(int link, long slot, int from, int to, long nowNs, boolean probe) {
    int tag = tags.next(link, nowNs, probe);
    outlet.selectFlow(link);
    ring.recordSent(slot, link, tags.sent(), nowNs);
    ring.setSentAsTrain(slot, ring.wasSentAsTrain(slot) && probe);
    for (int packet = from; packet < to; packet++) {
      boolean last = packet == to - 1;
      if (!sendCopy(link, slot, packet, last ? tag : PacketFormat.NO_TAG)) {
        outstanding.markPacketsLost(slot, packet, to);
        return block(nowNs);
      }
      countResent(1);
      counters.sent(1, bytes(slot, packet));
    }
    return true;
  }

  /* Sends one packet again over this link. A wide packet is sent in pieces. */
  private boolean sendCopy(int link, long slot, int packet, int tag) {
    int segment = ring.segmentBytes(slot);
    long offset = (long) packet * segment;
    int bytes = bytes(slot, packet);
    if (bytes > sizes.narrowPacketBytes()) {
      return pieces.send(link, ring.address(slot) + offset, bytes, tag);
    }
    long address = modifiableAddress(slot, packet, packet + 1);
    builder.prepareRetransmission(
        ring, slot, address, packet, packet + 1, tag, scheduler.hasSeveral());
    return outlet.send(link, address + offset, bytes, segment);
  }

  private int bytes(long slot, int packet) {
    int segment = ring.segmentBytes(slot);
    return Math.min(segment, ring.totalBytes(slot) - packet * segment);
  }

  /*
   * Returns an address at which the slot's packets may be modified. A zero-copy slot is copied: the
   * kernel may still read it, and a packet in flight must not get the tag of a later transmission.
   */
  private long modifiableAddress(long slot, int from, int to) {
    long address = ring.address(slot);
    if (!ring.isZeroCopy(slot)) {
      return address;
    }
    long begin = (long) from * ring.segmentBytes(slot);
    long end = Math.min((long) to * ring.segmentBytes(slot), ring.totalBytes(slot));
    Memory.copy(address + begin, memory.scratch() + begin, end - begin);
    return memory.scratch();
  }

  private void reseal(
      int link, long slot, long address, int from, int to, long nowNs, boolean probe) {
    int tag = softPeer ? tags.next(link, nowNs, probe) : PacketFormat.NO_TAG;
    outlet.selectFlow(link);
    builder.prepareRetransmission(ring, slot, address, from, to, tag, scheduler.hasSeveral());
  }

  /**
   * Sends a probe of the path MTU on each link that is out of use because it was silent, if the
   * link's next probe is due. A copy of an outstanding packet wouldn't prove that the link works,
   * since its answer has the newest tag, which may be from another link. The answer to a probe
   * always has the probe's own tag.
   */
  void probeRestingLinks(long nowNs) {
    for (int link = 0; link < scheduler.count() && !outstanding.isEmpty(); link++) {
      LinkState state = scheduler.get(link);
      if (state.isTrialDue(nowNs)) {
        state.postponeTrial(nowNs);
        sendProbe(link, sizes.mtuBytes(), tags.next(link, nowNs, false));
      }
    }
  }

  /* Requests the missing responses again. */
  private boolean resendRead(int link, long slot, long nowNs) {
    read.onRequestRepeated();
    if (!read.isActive()) {
      return true;
    }
    outstanding.retransmitted(read.psn(), read.endPsn(), link);
    outlet.selectFlow(link);
    read.rewrite(builder, ring.address(slot), nowNs);
    countResent(1);
    return sendSlot(link, slot, ring.address(slot), 0, 1, nowNs);
  }

  /**
   * Probes with the oldest unacknowledged packet, even if the window is full: it may be full
   * because this packet is missing.
   *
   * @param unanswered number of probes since the last progress, this one included
   */
  void probe(int unanswered, long nowNs) {
    if (blocked.isRunning()) {
      return;
    }
    long oldest = outstanding.unacknowledged();
    long slot = ring.slotOf(oldest);
    /* Probes the links in turn, since one of them may be dead. */
    int last = unanswered > 1 ? lastProbedLink : outstanding.links().link(oldest);
    lastProbedLink = scheduler.next(last, unanswered > scheduler.count());
    if (ring.isRead(slot)) {
      /*
       * A READ response doesn't always show which transmission of its request it answers. So a
       * separate probe measures the path.
       */
      if (softPeer) {
        sendProbe(lastProbedLink, 0, tags.next(lastProbedLink, nowNs, false));
      }
      resendRead(lastProbedLink, slot, nowNs);
    } else {
      int packet = (int) (oldest - ring.firstPsn(slot));
      resend(lastProbedLink, slot, packet, packet + 1, nowNs, true);
    }
  }
}
