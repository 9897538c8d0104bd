package io.heddle.roce.transport.responder;

import io.heddle.platform.Memory;
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
 * The receiving half of a queue pair: has data placed, delivers completions in order of sequence
 * numbers, acknowledges. Under the progress lock.
 *
 * <p>From a soft peer, WRITE ONLY packets are taken ahead of a gap and placed at once; an immediate
 * waits in its row until everything before it has come. Everything else is taken in order only:
 * SENDs need the receive that is theirs, READs must see what was written before. Errors are
 * answered in order too, so a bad packet ahead of a gap counts as not received.
 */
public final class Responder {
  /** Memory that its tables take. */
  public static final int TABLES_BYTES = EarlyImmediates.BYTES + WritePlacement.BYTES;

  private final int number;
  private final QueuePairEvents events;
  private final PacketOutlet outlet;
  private final PacketMemory memory;
  private final MemoryRights rights;
  private final ReceiveQueue receives;
  private final Counters counters;
  private final ReadResponses reads;
  private final Acknowledger acknowledger;
  private final InboundMessage inbound;
  private final PsnBits received = new PsnBits();
  private final WritePlacement writes;
  private final EarlyImmediates immediates;
  private final LinkArrivals arrivals = new LinkArrivals();

  /* The link that the packet in hand came over, and the answer to it goes by. */
  private int answering;

  private long expected;
  private long highest;
  /* Where the newest READs begin that nothing was executed behind yet, and end. */
  private long readsFrom;
  private long readsEnd;
  private boolean softPeer;
  private boolean several;
  private int mtu;
  private int messages;
  private int timerCode;

  private boolean sequenceErrorSent;
  /* Nothing new is executed: the peer's writes have no place any more. */
  private boolean refuses;
  /* After an error of the peer's making: what every later packet of it is told. */
  private int lastSyndrome;
  private long lastSyndromePsn;

  /**
   * @param number of the queue pair
   * @param memory that packets are made in
   * @param tables address of {@link #TABLES_BYTES} of zeros, of which only what is used costs pages
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
    this.memory = memory;
    this.receives = receives;
    this.rights = rights;
    this.counters = counters;
    immediates = new EarlyImmediates(tables);
    writes = new WritePlacement(rights, tables + EarlyImmediates.BYTES);
    acknowledger = new Acknowledger(events, counters);
    inbound = new InboundMessage(events, rights, receives);
    reads = new ReadResponses(outlet, memory, rights);
  }

  /**
   * @param links over how many packets come: over several, to be ahead is no sign of loss
   */
  public void start(
      int receivePsn,
      int remoteNumber,
      PacketSizes sizes,
      boolean peerIsSoft,
      int links,
      int receiverNotReadyTimerCode) {
    answering = 0;
    outlet.sealFor(answering);
    expected = (receivePsn & PacketFormat.PSN_MASK) + (1L << 24);
    highest = expected - 1;
    readsFrom = expected;
    readsEnd = expected;
    softPeer = peerIsSoft;
    several = links > 1;
    arrivals.start(links);
    mtu = sizes.mtuBytes();
    writes.start(peerIsSoft, sizes.takenWriteBytes());
    timerCode = receiverNotReadyTimerCode;
    messages = 0;
    inbound.start(mtu, PacketFormat.SYNDROME_RECEIVER_NOT_READY | timerCode);
    received.clearAll();
    immediates.clear();
    acknowledger.reset(peerIsSoft, remoteNumber);
    sequenceErrorSent = false;
    refuses = false;
    lastSyndrome = 0;
    reads.configure(mtu, remoteNumber);
  }

  /**
   * From now on only duplicates are answered well. A request that is new ends the queue pair in its
   * turn, and has no effect before: what comes ahead of it counts as not received.
   */
  public void refuseRequests() {
    refuses = true;
  }

  /** When an acknowledgement is due though nothing more comes, or {@link Pause#NEVER_NS}. */
  public long dueNs() {
    return acknowledger.dueNs();
  }

  public void onTimer(long nowNs) {
    acknowledger.onTimer(nowNs);
  }

  /** The packet in hand came over this link, and answers go by it. */
  public void answerBy(int link) {
    answering = link;
  }

  /** By which link answers go now. */
  public int answersBy() {
    return answering;
  }

  /** What came by each of several links. */
  public LinkArrivals arrivals() {
    return arrivals;
  }

  /** Nothing came in time to carry an acknowledgement that waits. */
  public void endWait() {
    acknowledger.endWait();
  }

  /** Whether an acknowledgement waits for a packet to leave with. */
  public boolean isAnswerWaiting() {
    return acknowledger.isWaiting();
  }

  /** Another's packet leaves for the peer, with which it can leave. */
  public void endWaitWithPacket() {
    acknowledger.endWaitWithPacket();
  }

  /** What {@link #append} wrote has left. */
  public void carried() {
    acknowledger.carried();
  }

  /** Whether there are responses to READs to send. */
  public boolean hasResponses() {
    return reads.hasMore();
  }

  /** Sends a train of them. False when the socket is full. */
  public boolean sendResponses() {
    return reads.transmit();
  }

  /** Takes a request whose CRC was right. */
  public void onRequest(
      int opcode, int thirdWord, long packet, long payload, int payloadBytes, long nowNs) {
    acknowledger.packetsCame(PacketFormat.tagOf(thirdWord), nowNs);
    long psn = PacketFormat.expand(PacketFormat.psnOf(thirdWord), expected);
    if (psn < expected || psn != expected && psn - expected < PsnBits.SIZE && received.get(psn)) {
      duplicate(opcode, thirdWord, packet, payloadBytes, psn);
      return;
    }
    if (softPeer && PacketFormat.piece(packet) != 0) {
      takePiece(opcode, thirdWord, packet, payload, payloadBytes, psn);
      return;
    }
    if (psn > expected) {
      ahead(opcode, thirdWord, packet, payload, payloadBytes, psn);
      return;
    }
    sequenceErrorSent = false;
    int outcome = execute(opcode, packet, payload, payloadBytes);
    if (outcome != 0) {
      refuse(outcome);
      return;
    }
    if (events.isDead()) {
      return; /* by a completion that overran its queue */
    }
    if (several) {
      arrivals.took(answering, payloadBytes, 0);
    }
    boolean read = opcode == PacketFormat.READ_REQUEST;
    if (!read) {
      expected++;
    }
    boolean fills = highest >= expected;
    if (fills) {
      deliverPending();
    }
    if (read || events.isDead()) {
      return; /* responses acknowledge a READ */
    }
    if (fills && !several) {
      acknowledger.askNow(); /* the peer may be about to send it again (RFC 5681, section 4.2) */
    }
    acknowledger.executed(1, PacketFormat.asksForAcknowledgement(thirdWord), highest >= expected);
  }

  /**
   * Takes packets of a row from a soft peer, of which nothing is checked yet: those that come in
   * their turn, in one write, with nothing ahead of them.
   *
   * @return how many were taken; 0 where the first one isn't plain
   */
  public int onRow(
      WriteRows rows, long packet, int stride, int most, FlowChecksum flow, long nowNs) {
    if (several
        || refuses
        || inbound.isUnderWay()
        || highest >= expected
        || writes.isAnyPartial()
        || !writes.takes(stride - PacketFormat.WRITE_ONLY_BYTES)) {
      return 0;
    }
    int key = PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES + 8);
    int region = rights.writable(key);
    if (region < 0) {
      return 0;
    }
    int taken =
        rows.take(
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
      acknowledger.packetsCame(rows.tag(), nowNs);
      sequenceErrorSent = false;
      expected += taken;
      messages += taken;
      acknowledger.executed(taken, rows.asked(), false);
    }
    return taken;
  }

  private void duplicate(int opcode, int thirdWord, long packet, int payloadBytes, long psn) {
    if (softPeer
        && opcode == PacketFormat.WRITE_ONLY
        && payloadBytes > 0
        && PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES + 12) == 0) {
      if (acknowledger.owesAnswer()) {
        /* Of another link: each has its own, or the others would seem lost. */
        sendAcknowledge(PacketFormat.SYNDROME_ACK, acknowledged(), acknowledger.nowNs());
      }
      acknowledger.asked(PacketFormat.tagOf(thirdWord));
      return;
    }
    counters.drops().count(DropCounters.Reason.DUPLICATE);
    if (opcode == PacketFormat.READ_REQUEST && psn < expected) {
      /* A repeated READ is executed again, without moving what is expected next. */
      startRead(packet, psn);
      return;
    }
    acknowledger.askNow();
  }

  private void ahead(
      int opcode, int thirdWord, long packet, long payload, int payloadBytes, long psn) {
    if (psn - expected >= PsnBits.SIZE) {
      counters.drops().count(DropCounters.Reason.OUT_OF_WINDOW);
      return;
    }
    boolean only =
        opcode == PacketFormat.WRITE_ONLY || opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
    if (softPeer
        && only
        && !refuses
        && !inbound.isUnderWay()
        && writes.place(opcode, packet, payload, payloadBytes, psn) == 0) {
      received.set(psn);
      highest = Math.max(highest, psn);
      if (immediates.keep(opcode, packet, psn)) {
        immediates.add(psn);
      }
      if (several) {
        arrivals.took(answering, payloadBytes, (int) (psn - expected));
        acknowledger.executed(1, PacketFormat.asksForAcknowledgement(thirdWord), true);
      } else {
        acknowledger.askNow();
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
   * A piece of a packet is placed at once, and once; the packet counts as received with the last
   * one that was missing, and then as if it had come whole before its turn.
   */
  private void takePiece(
      int opcode, int thirdWord, long packet, long payload, int payloadBytes, long psn) {
    boolean only =
        opcode == PacketFormat.WRITE_ONLY || opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
    if (psn - expected >= PsnBits.SIZE) {
      counters.drops().count(DropCounters.Reason.OUT_OF_WINDOW);
      return;
    }
    int outcome =
        only && !refuses && !inbound.isUnderWay()
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
    if (several) {
      arrivals.took(answering, payloadBytes, (int) (psn - expected));
    }
    boolean immediate = immediates.keep(opcode, packet, psn);
    if (writes.joins(psn, PacketFormat.piece(packet), immediate)) {
      received.set(psn);
      highest = Math.max(highest, psn);
      if (writes.take(psn)) {
        immediates.add(psn);
      }
      sequenceErrorSent = false;
      deliverPending();
    }
    if (!events.isDead() && PacketFormat.asksForAcknowledgement(thirdWord)) {
      acknowledger.askNow();
    }
  }

  private void deliverPending() {
    while (expected <= highest && received.get(expected)) {
      if (immediates.isWaiting(expected)) {
        if (receives.isEmpty()) {
          /* As if it had not come: the peer sends it again after the wait that it is told. */
          received.clear(expected);
          immediates.remove(expected);
          writes.keep(expected);
          refuse(PacketFormat.SYNDROME_RECEIVER_NOT_READY | timerCode);
          return;
        }
        inbound.completeImmediate(immediates.lengthBytes(expected), immediates.immediate(expected));
        if (events.isDead()) {
          return;
        }
        immediates.remove(expected);
        writes.release(expected);
      }
      received.clear(expected);
      messages++;
      expected++;
      acknowledger.executedToo();
    }
  }

  /** Executes the packet that was expected: 0, or the syndrome of the answer that refuses it. */
  private int execute(int opcode, long packet, long payload, int payloadBytes) {
    if (refuses) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    switch (opcode) {
      case PacketFormat.WRITE_ONLY, PacketFormat.WRITE_ONLY_WITH_IMMEDIATE:
        return executeWriteOnly(opcode, packet, payload, payloadBytes);
      case PacketFormat.READ_REQUEST:
        return executeRead(packet);
      default:
        int outcome = inbound.execute(opcode, packet, payload, payloadBytes);
        messages += outcome == 0 && !inbound.isUnderWay() ? 1 : 0;
        return outcome;
    }
  }

  private int executeWriteOnly(int opcode, long packet, long payload, int payloadBytes) {
    boolean immediate = opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE;
    if (inbound.isUnderWay()) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (immediate && receives.isEmpty()) {
      return PacketFormat.SYNDROME_RECEIVER_NOT_READY | timerCode;
    }
    int outcome = writes.place(opcode, packet, payload, payloadBytes, expected);
    if (outcome != 0) {
      return outcome;
    }
    writes.release(expected);
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
    long reth = packet + PacketFormat.BTH_BYTES;
    int length = PacketFormat.networkInt(reth + 12);
    if (inbound.isUnderWay() || length < 0) {
      return PacketFormat.SYNDROME_INVALID_REQUEST;
    }
    if (length > 0
        && !rights.remoteRead(
            PacketFormat.networkInt(reth + 8), PacketFormat.networkLong(reth), length)) {
      return PacketFormat.SYNDROME_REMOTE_ACCESS;
    }
    messages++;
    startRead(packet, expected);
    if (expected != readsEnd) {
      readsFrom = expected;
    }
    expected += Math.max(1, (length + mtu - 1L) / mtu);
    readsEnd = expected;
    acknowledger.answeredOtherwise();
    events.activate();
    return 0;
  }

  private void startRead(long packet, long psn) {
    long reth = packet + PacketFormat.BTH_BYTES;
    reads.start(
        psn,
        PacketFormat.networkLong(reth),
        PacketFormat.networkInt(reth + 8),
        PacketFormat.networkInt(reth + 12),
        messages,
        answering);
    events.activate();
  }

  /* Answers a packet that was not executed. All but "not ready" end the queue pair. */
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

  /** A packet for a queue pair that its peer's error has ended: the answer may have been lost. */
  public void repeatRefusal() {
    if (lastSyndrome != 0) {
      sendAcknowledge(lastSyndrome, lastSyndromePsn, acknowledger.nowNs());
    }
  }

  /**
   * What an acknowledgement says has been executed. To a standard peer a READ's numbers are its
   * responses' to name: the kernel's rxe takes an acknowledgement of one for the answer, completes
   * it, and has no data. A soft peer doesn't, and reads a bitmap from the number behind this one.
   */
  private long acknowledged() {
    return (!softPeer && expected == readsEnd ? readsFrom : expected) - 1;
  }

  /** Sends an acknowledgement that is due. False when the socket is full. */
  public boolean flush(long nowNs) {
    return !acknowledger.isDueNow()
        || sendAcknowledge(PacketFormat.SYNDROME_ACK, acknowledged(), nowNs);
  }

  /**
   * Writes an acknowledgement behind a packet that leaves in any case, where there is something to
   * acknowledge, nothing is missing and it fits.
   *
   * @param most bytes it may have, ICRC included
   * @return bytes written; {@link #carried} when they have left
   */
  public int append(long packet, int most, long nowNs) {
    int bytes = acknowledger.lengthBytes();
    if (!acknowledger.owes() || highest >= expected || bytes + PacketFormat.ICRC_BYTES > most) {
      return 0;
    }
    acknowledger.write(packet, PacketFormat.SYNDROME_ACK, acknowledged(), messages, nowNs);
    memory.seal().seal(packet, bytes);
    return bytes + PacketFormat.ICRC_BYTES;
  }

  private boolean sendAcknowledge(int syndrome, long psn, long nowNs) {
    long packet = memory.controlPacket();
    outlet.sealFor(answering);
    acknowledger.write(packet, syndrome, psn, messages, nowNs);
    int bytes = acknowledger.lengthBytes();
    if (softPeer && highest >= expected) {
      bytes += writeBitmap(packet + bytes);
    }
    memory.seal().seal(packet, bytes);
    int total = bytes + PacketFormat.ICRC_BYTES;
    if (!outlet.answer(answering, packet, total, total)) {
      return false;
    }
    acknowledger.sent();
    return true;
  }

  private int writeBitmap(long at) {
    int words = (int) ((highest >> 6) - (expected >> 6)) + 1;
    for (int i = 0; i < words; i++) {
      long from = Math.max(expected, (expected & ~63L) + 64L * i);
      long bits = received.word(from) & PsnBits.mask(from, highest + 1);
      Memory.ALL.set(Memory.NETWORK_LONG, at + 8L * i, bits);
    }
    return 8 * words;
  }

  public void stop() {
    acknowledger.sent();
    inbound.stop();
    reads.stop();
  }
}
