package io.heddle.roce.transport.responder;

import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.LinkArrivals;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.ReceiveQueue;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.roce.wire.PsnBits;
import io.heddle.verbs.AsyncEventListener;

/**
 * Receiving half of a queue pair: places data, delivers completions in order of sequence numbers,
 * and acknowledges. Under the progress lock.
 *
 * <p>WRITE ONLY packets from a soft peer are accepted even after a gap, and placed at once. An
 * immediate waits until everything before it has arrived. Other packets are accepted in order only:
 * each SEND takes the next posted receive, and a READ must see earlier writes. Errors are answered
 * in order too, so a bad packet after a gap counts as not received.
 */
public final class Responder {
  /** Length of the responder's tables, in bytes. */
  public static final int TABLES_BYTES = EarlyImmediates.BYTES + WritePlacement.BYTES;

  private final int number;
  private final QueuePairEvents events;
  private final PacketOutlet outlet;
  private final MemoryRights rights;
  private final ReceiveQueue receives;
  private final Counters counters;
  private final ReadResponses reads;
  private final Acknowledger acknowledger;
  private final InboundMessage inbound;
  private final EarlyPackets early = new EarlyPackets();
  private final WritePlacement writes;
  private final EarlyImmediates immediates;
  private final LinkArrivals arrivals = new LinkArrivals();

  /* Link of the current packet and of its answer. */
  private int currentLink;

  private long expected;
  private boolean softPeer;
  private boolean hasSeveralLinks;
  private int messages;
  private int timerCode;

  private boolean sequenceErrorSent;
  /* Set when new requests are refused: the peer isn't permitted to write any more. */
  private boolean isRefusing;
  /* NAK that answers every later packet after an error caused by the peer. */
  private int lastSyndrome;
  private long lastSyndromePsn;

  /**
   * @param number number of the queue pair
   * @param memory memory for building packets
   * @param tables address of {@link #TABLES_BYTES} bytes of zeroed memory; only touched pages take
   *     memory
   */
  public Responder(
      int number,
      QueuePairEvents events,
      PacketOutlet outlet,
      PacketMemory memory,
      ReceiveQueue receives,
      MemoryRights rights,
      Counters counters,
      long tables) {
    this.number = number;
    this.events = events;
    this.outlet = outlet;
    this.receives = receives;
    this.rights = rights;
    this.counters = counters;
    immediates = new EarlyImmediates(tables);
    writes = new WritePlacement(rights, tables + EarlyImmediates.BYTES);
    acknowledger = new Acknowledger(events, counters, outlet, memory, early);
    inbound = new InboundMessage(events, rights, receives);
    reads = new ReadResponses(outlet, memory, rights);
  }

  /**
   * @param links number of links; with several links, reordering is no sign of loss
   */
  public void start(
      int receivePsn,
      int remoteNumber,
      PacketSizes sizes,
      boolean peerIsSoft,
      int links,
      int receiverNotReadyTimerCode) {
    currentLink = 0;
    outlet.selectFlow(currentLink);
    expected = (receivePsn & PacketFormat.PSN_MASK) + (1L << 24);
    early.start(expected);
    softPeer = peerIsSoft;
    hasSeveralLinks = links > 1;
    arrivals.start(links);
    writes.start(peerIsSoft, sizes.takenWriteBytes());
    timerCode = receiverNotReadyTimerCode;
    messages = 0;
    inbound.start(sizes.mtuBytes(), PacketFormat.SYNDROME_RECEIVER_NOT_READY | timerCode);
    immediates.clear();
    acknowledger.reset(peerIsSoft, remoteNumber);
    sequenceErrorSent = false;
    isRefusing = false;
    lastSyndrome = 0;
    reads.configure(sizes.mtuBytes(), remoteNumber, expected);
  }

  /**
   * Refuses new requests; duplicates are still acknowledged. A new request with the expected number
   * moves the queue pair to ERROR. A request after a gap counts as not received.
   */
  public void refuseRequests() {
    isRefusing = true;
  }

  /**
   * Returns the time at which an acknowledgement is sent even if no further packet arrives, or
   * {@link Pause#NEVER_NS}.
   */
  public long dueNs() {
    return acknowledger.dueNs();
  }

  public void onTimer(long nowNs) {
    acknowledger.onTimer(nowNs);
  }

  /** Sets the link of the current packet, which answers use too. */
  public void setAnswerLink(int link) {
    currentLink = link;
  }

  /** Returns the link that answers use at present. */
  public int answerLink() {
    return currentLink;
  }

  /** Returns the receive counters of each link; unused if there is only one link. */
  public LinkArrivals arrivals() {
    return arrivals;
  }

  /** Ends an acknowledgement's wait: no packet came in time to carry it. */
  public void endWait() {
    acknowledger.endWait();
  }

  /** Returns whether an acknowledgement waits for a packet to carry it. */
  public boolean isAnswerWaiting() {
    return acknowledger.isWaiting();
  }

  /** Ends an acknowledgement's wait: another queue pair's packet to the peer can carry it. */
  public void endWaitWithPacket() {
    acknowledger.endWaitWithPacket();
  }

  /** Records that the acknowledgement written by {@link #append} was sent. */
  public void onCarried() {
    acknowledger.onCarried();
  }

  /** Returns whether there are READ responses to send. */
  public boolean hasResponses() {
    return reads.hasMore();
  }

  /** Sends a train of READ responses. Returns false when the socket is full. */
  public boolean sendResponses() {
    return reads.transmit();
  }

  /** Processes a request with a valid CRC. */
  public void onRequest(
      int opcode, int thirdWord, long packet, long payload, int payloadBytes, long nowNs) {
    acknowledger.onPackets(PacketFormat.tagOf(thirdWord), nowNs);
    long psn = PacketFormat.expand(PacketFormat.psnOf(thirdWord), expected);
    if (psn - expected >= PsnBits.SIZE) {
      counters.drops().count(DropCounters.Reason.OUT_OF_WINDOW);
      return;
    }
    if (psn < expected || psn != expected && early.has(psn)) {
      onDuplicate(opcode, thirdWord, packet, payloadBytes, psn);
      return;
    }
    if (softPeer && PacketFormat.piece(packet) != 0) {
      takePiece(opcode, thirdWord, packet, payload, payloadBytes, psn);
      return;
    }
    if (psn > expected) {
      onAhead(opcode, thirdWord, packet, payload, payloadBytes, psn);
      return;
    }
    sequenceErrorSent = false;
    int outcome = execute(opcode, packet, payload, payloadBytes);
    if (outcome != 0) {
      refuse(outcome);
      return;
    }
    if (events.isInError()) {
      return; /* a completion overran its completion queue */
    }
    arrivals.count(currentLink, payloadBytes, 0);
    boolean read = opcode == PacketFormat.READ_REQUEST;
    if (!read) {
      expected++;
    }
    boolean fills = early.isAnyAfter(expected);
    if (fills) {
      deliverPending();
    }
    if (read || events.isInError()) {
      return; /* a READ is acknowledged by its responses */
    }
    if (fills && !hasSeveralLinks) {
      /* So that the peer stops retransmitting (RFC 5681, section 4.2). */
      acknowledger.acknowledgeNow();
    }
    acknowledger.onExecuted(
        1, PacketFormat.requestsAcknowledgement(thirdWord), early.isAnyAfter(expected));
  }

  /**
   * Processes consecutive packets from a soft peer whose checksums aren't verified yet. Takes those
   * that are in order and belong to one write.
   *
   * @return number of packets taken; 0 if the first packet isn't eligible
   */
  public int onBatch(
      WriteBatchReceiver batches,
      long packet,
      int stride,
      int most,
      FlowChecksum flow,
      long nowNs) {
    if (hasSeveralLinks
        || isRefusing
        || inbound.isInProgress()
        || early.isAnyAfter(expected)
        || writes.isAnyPartial()
        || !writes.acceptsSize(stride - PacketFormat.WRITE_ONLY_BYTES)) {
      return 0;
    }
    int key = PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES + 8);
    int region = rights.writable(key);
    if (region < 0) {
      return 0;
    }
    int taken =
        batches.placePackets(
            packet,
            stride,
            most,
            flow,
            number,
            expected,
            key,
            rights.address(region),
            rights.lengthBytes(region));
    if (taken > 0) {
      acknowledger.onPackets(batches.tag(), nowNs);
      sequenceErrorSent = false;
      expected += taken;
      messages += taken;
      acknowledger.onExecuted(taken, batches.isAcknowledgeRequested(), false);
    }
    return taken;
  }

  private void onDuplicate(int opcode, int thirdWord, long packet, int payloadBytes, long psn) {
    if (softPeer
        && opcode == PacketFormat.WRITE_ONLY
        && payloadBytes > 0
        && PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES + 12) == 0) {
      if (acknowledger.owesProbeAnswer()) {
        /*
         * An earlier probe, of another link, isn't answered yet. Each probe gets its own answer, or
         * the other link would seem lost.
         */
        sendAcknowledge(PacketFormat.SYNDROME_ACK, acknowledged(), acknowledger.nowNs());
      }
      acknowledger.probed(PacketFormat.tagOf(thirdWord));
      return;
    }
    counters.drops().count(DropCounters.Reason.DUPLICATE);
    if (opcode == PacketFormat.READ_REQUEST && psn < expected) {
      /* A repeated READ is executed again without advancing the expected number. */
      reads.start(packet, psn, messages, currentLink);
      events.activate();
      return;
    }
    acknowledger.acknowledgeNow();
  }

  private static boolean isWriteOnly(int opcode) {
    return opcode == PacketFormat.WRITE_ONLY || opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
  }

  private void onAhead(
      int opcode, int thirdWord, long packet, long payload, int payloadBytes, long psn) {
    if (softPeer
        && isWriteOnly(opcode)
        && !isRefusing
        && !inbound.isInProgress()
        && writes.place(opcode, packet, payload, payloadBytes, psn) == 0) {
      early.add(psn);
      if (immediates.store(opcode, packet, psn)) {
        immediates.add(psn);
      }
      arrivals.count(currentLink, payloadBytes, (int) (psn - expected));
      if (hasSeveralLinks) {
        acknowledger.onExecuted(1, PacketFormat.requestsAcknowledgement(thirdWord), true);
      } else {
        acknowledger.acknowledgeNow();
      }
      return;
    }
    counters.drops().count(DropCounters.Reason.OUT_OF_ORDER);
    if (!sequenceErrorSent) {
      sequenceErrorSent = true;
      sendAcknowledge(PacketFormat.SYNDROME_SEQUENCE_ERROR, expected, acknowledger.nowNs());
    }
  }

  /**
   * Places a piece of a packet at once, and only once. When its last missing piece has arrived, the
   * packet counts as received, like a whole packet that arrived early.
   */
  private void takePiece(
      int opcode, int thirdWord, long packet, long payload, int payloadBytes, long psn) {
    int outcome =
        isWriteOnly(opcode) && !isRefusing && !inbound.isInProgress()
            ? writes.placePiece(opcode, packet, payload, payloadBytes, psn)
            : PacketFormat.SYNDROME_INVALID_REQUEST;
    if (outcome != 0) {
      if (psn == expected) {
        refuse(outcome);
      } else {
        counters.drops().count(DropCounters.Reason.OUT_OF_ORDER);
      }
      return;
    }
    arrivals.count(currentLink, payloadBytes, (int) (psn - expected));
    boolean immediate = immediates.store(opcode, packet, psn);
    if (writes.completesPacket(psn, PacketFormat.piece(packet), immediate)) {
      early.add(psn);
      if (writes.removeComplete(psn)) {
        immediates.add(psn);
      }
      sequenceErrorSent = false;
      deliverPending();
    }
    if (!events.isInError() && PacketFormat.requestsAcknowledgement(thirdWord)) {
      acknowledger.acknowledgeNow();
    }
  }

  private void deliverPending() {
    while (early.isAnyAfter(expected) && early.has(expected)) {
      if (immediates.isWaiting(expected)) {
        if (receives.isEmpty()) {
          /* The packet counts as not received: the peer retransmits it after the RNR timer. */
          early.remove(expected);
          immediates.remove(expected);
          writes.markPlaced(expected);
          refuse(PacketFormat.SYNDROME_RECEIVER_NOT_READY | timerCode);
          return;
        }
        inbound.completeImmediate(immediates.lengthBytes(expected), immediates.immediate(expected));
        if (events.isInError()) {
          return;
        }
        immediates.remove(expected);
        writes.clearPlaced(expected);
      }
      early.remove(expected);
      messages++;
      expected++;
      acknowledger.onEarlyExecuted();
    }
  }

  /** Executes the expected packet; returns 0, or the syndrome of the NAK. */
  private int execute(int opcode, long packet, long payload, int payloadBytes) {
    if (isRefusing) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (isWriteOnly(opcode)) {
      return executeWriteOnly(opcode, packet, payload, payloadBytes);
    }
    if (opcode == PacketFormat.READ_REQUEST) {
      return executeRead(packet);
    }
    int outcome = inbound.execute(opcode, packet, payload, payloadBytes);
    messages += outcome == 0 && !inbound.isInProgress() ? 1 : 0;
    return outcome;
  }

  private int executeWriteOnly(int opcode, long packet, long payload, int payloadBytes) {
    boolean immediate = opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
    if (inbound.isInProgress()) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (immediate && receives.isEmpty()) {
      return PacketFormat.SYNDROME_RECEIVER_NOT_READY | timerCode;
    }
    int outcome = writes.place(opcode, packet, payload, payloadBytes, expected);
    if (outcome != 0) {
      return outcome;
    }
    writes.clearPlaced(expected);
    if (immediate) {
      long reth = packet + PacketFormat.BTH_BYTES;
      inbound.completeImmediate(
          PacketFormat.networkInt(reth + 12),
          PacketFormat.networkInt(reth + PacketFormat.RETH_BYTES));
    }
    messages++;
    return 0;
  }

  private int executeRead(long packet) {
    if (inbound.isInProgress()) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    int outcome = reads.execute(packet, expected, messages + 1, currentLink);
    if (outcome == 0) {
      messages++;
      expected = reads.runEnd();
      acknowledger.onReadResponse();
      events.activate();
    }
    return outcome;
  }

  /* Sends a NAK. Every NAK except "receiver not ready" moves the queue pair to ERROR. */
  private void refuse(int syndrome) {
    sendAcknowledge(syndrome, expected, acknowledger.nowNs());
    if (syndrome >> 5 == 1) {
      return;
    }
    lastSyndrome = syndrome;
    lastSyndromePsn = expected;
    events.fail(
        syndrome == PacketFormat.SYNDROME_REMOTE_ACCESS
            ? AsyncEventListener.Kind.QUEUE_PAIR_ACCESS_ERROR
            : AsyncEventListener.Kind.QUEUE_PAIR_REQUEST_ERROR);
  }

  /** Repeats the NAK that ended the queue pair, since it may have been lost. */
  public void repeatRefusal() {
    if (lastSyndrome != 0) {
      sendAcknowledge(lastSyndrome, lastSyndromePsn, acknowledger.nowNs());
    }
  }

  /* Returns the last sequence number that may be acknowledged. */
  private long acknowledged() {
    return (softPeer ? expected : reads.limitAcknowledgement(expected)) - 1;
  }

  /** Sends a due acknowledgement. Returns false when the socket is full. */
  public boolean flush(long nowNs) {
    return !acknowledger.isDueNow()
        || sendAcknowledge(PacketFormat.SYNDROME_ACK, acknowledged(), nowNs);
  }

  /**
   * Appends an acknowledgement to a packet about to be sent, if an acknowledgement is owed and
   * fits, and no packet is missing.
   *
   * @param most largest length, ICRC included
   * @return number of bytes written; call {@link #onCarried} once they are sent
   */
  public int append(long packet, int most, long nowNs) {
    return early.isAnyAfter(expected)
        ? 0
        : acknowledger.append(packet, most, acknowledged(), messages, nowNs);
  }

  private boolean sendAcknowledge(int syndrome, long psn, long nowNs) {
    return acknowledger.send(syndrome, psn, messages, expected, currentLink, nowNs);
  }

  public void stop() {
    acknowledger.sent();
    inbound.stop();
    reads.stop();
  }
}
