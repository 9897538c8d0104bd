package io.heddle.softroce;

import io.heddle.platform.Memory;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;

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

  private static final long BLOCKED_RETRY_NS = 50_000;
  private static final int READ_PACKETS = 32;

  private final SoftQueuePair qp;
  private final SendQueue queue;
  private final TransmitRing ring;
  private final TrainBuilder builder;
  private final Counters counters;
  private volatile long resentPackets;
  private final RoundTrip roundTrip = new RoundTrip();
  private final Outstanding outstanding;

  private int window;
  private boolean softPeer;
  private int mtu;
  private long acknowledgeAt;
  private long recoveryEnd;

  private long exhaustionNs;
  private int leastTimeouts;
  private int timeoutsWithoutNews;
  private long newsAtNs;
  private long timeoutAtNs = NEVER_NS;

  private int receiverNotReadyLimit;
  private int receiverNotReadyCount;
  private long receiverNotReadyUntilNs = NEVER_NS;
  private long blockedUntilNs = NEVER_NS;

  /* The READ whose responses are awaited; one at a time. */
  private boolean reading;
  private boolean readLost;
  private long readPsn;
  private long readEndPsn;
  private long readIndex;
  private int readOffset;
  private int readEndOffset;

  Requester(
      SoftQueuePair qp,
      SendQueue queue,
      TransmitRing ring,
      TrainBuilder builder,
      Counters counters) {
    this.qp = qp;
    this.queue = queue;
    this.ring = ring;
    this.builder = builder;
    this.counters = counters;
    outstanding = new Outstanding(ring);
  }

  /**
   * @param packetWindow numbers that may be outstanding at most
   */
  void start(
      ReadyToSendAttributes attributes,
      int mtuBytes,
      boolean peerIsSoft,
      int packetWindow,
      long nowNs) {
    outstanding.start(attributes.sendPsn());
    recoveryEnd = outstanding.next();
    mtu = mtuBytes;
    softPeer = peerIsSoft;
    window = packetWindow;
    roundTrip.reset(packetWindow);
    acknowledgeAt = outstanding.next() + window / 2 - 1;
    exhaustionNs =
        attributes.timeoutCode() == 0
            ? NEVER_NS
            : (4096L << attributes.timeoutCode()) * (attributes.retryCount() + 1);
    leastTimeouts = Math.min(attributes.retryCount(), 2);
    timeoutsWithoutNews = 0;
    newsAtNs = nowNs;
    timeoutAtNs = NEVER_NS;
    receiverNotReadyLimit = attributes.receiverNotReadyRetryCount();
    receiverNotReadyCount = 0;
    receiverNotReadyUntilNs = NEVER_NS;
    blockedUntilNs = NEVER_NS;
    reading = false;
    readLost = false;
  }

  static int readPackets() {
    return READ_PACKETS;
  }

  /** When {@link #onTimer} has something to do, or {@link #NEVER_NS}. */
  long dueNs() {
    return Math.min(timeoutAtNs, Math.min(receiverNotReadyUntilNs, blockedUntilNs));
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
    if (receiverNotReadyUntilNs != NEVER_NS || blockedUntilNs != NEVER_NS) {
      return false;
    }
    int left = trains;
    while ((outstanding.anyLost() || readLost) && inFlight() < roundTrip.window()) {
      if (left-- == 0) {
        return true;
      }
      if (!resendRun(nowNs)) {
        return false;
      }
    }
    while (!outstanding.anyLost() && !readLost && builder.hasMore() && !ring.isFull()) {
      int ahead = (int) (outstanding.next() - outstanding.unacknowledged());
      int room = Math.min(roundTrip.window() - inFlight(), window - ahead);
      if (room <= 0 || reading && builder.nextIsRead()) {
        return false;
      }
      if (left-- == 0) {
        return true;
      }
      if (!sendNext(nowNs, room)) {
        return false;
      }
    }
    return false;
  }

  /* Packets under way from here to there: of a READ that is one at most, whatever numbers its responses have. */
  private int inFlight() {
    int awaited = reading ? (int) (readEndPsn - readPsn) : 0;
    return outstanding.inFlight() - awaited;
  }

  private boolean sendNext(long nowNs, int room) {
    boolean read = builder.nextIsRead();
    long index = queue.started();
    int offset = builder.offset();
    long next = outstanding.next();
    long end = builder.build(ring, next, room, !softPeer, acknowledgeAt);
    if (end == next) {
      /* Not allowed its local memory: fails in its turn, when everything before it has completed. */
      if (outstanding.isEmpty()) {
        qp.failSend(Status.LOCAL_PROTECTION_ERROR);
      }
      return false;
    }
    if (outstanding.isEmpty()) {
      newsAtNs = nowNs;
      timeoutsWithoutNews = 0;
    }
    if (read) {
      reading = true;
      readPsn = next;
      readEndPsn = end;
      readIndex = index;
      readOffset = offset;
      readEndOffset = queue.started() == index ? builder.offset() : queue.lengthBytes(index);
    }
    if (end > acknowledgeAt) {
      acknowledgeAt = end - 1 + Math.max(1, Math.min(window, roundTrip.window()) / 2);
    }
    long slot = ring.tail() - 1;
    outstanding.sentTo(end);
    if (timeoutAtNs == NEVER_NS) {
      armTimeout(nowNs);
    }
    return sendSlot(slot, 0, ring.packets(slot), nowNs);
  }

  /**
   * Sends packets {@code [from, to)} of a slot; when the socket is full they count as lost and go
   * out later.
   */
  private boolean sendSlot(long slot, int from, int to, long nowNs) {
    int segment = ring.segmentBytes(slot);
    int begin = from * segment;
    int end = to == ring.packets(slot) ? ring.totalBytes(slot) : to * segment;
    ring.sent(slot, nowNs);
    if (qp.send(ring.address(slot) + begin, end - begin, segment)) {
      counters.sent(to - from, end - begin);
      return true;
    }
    if (ring.isRead(slot)) {
      readLost = true;
    } else {
      outstanding.losePackets(slot, from, to);
    }
    blockedUntilNs = nowNs + BLOCKED_RETRY_NS;
    qp.timerAt(blockedUntilNs);
    return false;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one writer at a time: the progress lock's holder
  private void countResent(int packets) {
    resentPackets += packets;
    counters.resent(packets);
  }

  /** Packets that were sent again. Any thread. */
  long resentPackets() {
    return resentPackets;
  }

  /** Sends the first run of lost packets again, with an acknowledgement requested at its end. */
  private boolean resendRun(long nowNs) {
    for (long slot = ring.head(); slot < ring.tail(); slot++) {
      long first = ring.firstPsn(slot);
      int packets = ring.packets(slot);
      if (ring.isRead(slot)) {
        if (readLost) {
          return resendRead(slot, nowNs);
        }
        continue;
      }
      for (int from = 0; from < packets; from++) {
        if (outstanding.isLost(first + from)) {
          int to = from + 1;
          while (to < packets && outstanding.isLost(first + to)) {
            to++;
          }
          return resend(slot, from, to, nowNs);
        }
      }
    }
    if (readLost) {
      readLost = false; /* its last response came after all */
      return true;
    }
    throw new IllegalStateException(
        outstanding.lostCount() + " packets count as lost, but none is marked in the ring");
  }

  private boolean resend(long slot, int from, int to, long nowNs) {
    long first = ring.firstPsn(slot);
    outstanding.sentAgain(first + from, first + to);
    int at = (to - 1) * ring.segmentBytes(slot);
    int bytes = to == ring.packets(slot) ? ring.totalBytes(slot) - at : ring.segmentBytes(slot);
    builder.requestAcknowledgement(ring.address(slot) + at, bytes);
    countResent(to - from);
    return sendSlot(slot, from, to, nowNs);
  }

  /* Asks for what is still missing of the responses. */
  private boolean resendRead(long slot, long nowNs) {
    readLost = false;
    if (!reading) {
      return true;
    }
    builder.writeRead(
        ring.address(slot),
        readPsn,
        queue.remoteAddress(readIndex) + readOffset,
        queue.rkey(readIndex),
        readEndOffset - readOffset);
    countResent(1);
    return sendSlot(slot, 0, 1, nowNs);
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
    boolean news = advance(upTo, nowNs);
    if (qp.isDead()) {
      return;
    }
    if (softPeer && bitmapWords > 0) {
      int fresh = outstanding.takeBitmap(upTo, bitmapAddress, bitmapWords);
      if (fresh > 0) {
        news = true;
        roundTrip.acknowledged(fresh);
      }
      if (outstanding.loseMissing(nowNs, roundTrip.smoothedNs())) {
        lossSeen();
      }
    }
    if (news) {
      newsArrived(nowNs);
    }
    if (!positive && psn >= outstanding.unacknowledged()) {
      onNegative(psn, syndrome, nowNs);
    }
  }

  private void newsArrived(long nowNs) {
    newsAtNs = nowNs;
    timeoutsWithoutNews = 0;
    receiverNotReadyCount = 0;
    armTimeout(nowNs);
  }

  private void armTimeout(long nowNs) {
    if (outstanding.isEmpty()) {
      timeoutAtNs = NEVER_NS;
    } else {
      timeoutAtNs = nowNs + roundTrip.timeoutNs();
      qp.timerAt(timeoutAtNs);
    }
  }

  /** False when known already. May end the queue pair: a completion may overrun its queue. */
  private boolean advance(long upTo, long nowNs) {
    long to = reading ? Math.min(upTo, readPsn) : upTo;
    if (to <= outstanding.unacknowledged()) {
      return false;
    }
    roundTrip.acknowledged(outstanding.advance(to));
    long newest = -1;
    while (ring.head() < ring.tail() && ring.endPsn(ring.head()) <= to) {
      newest = ring.sends(ring.head()) == 1 ? ring.sentAtNs(ring.head()) : -1;
      ring.removeHead();
    }
    if (newest >= 0) {
      roundTrip.sample(nowNs - newest);
    }
    completeRequests();
    return true;
  }

  private void completeRequests() {
    long upTo = outstanding.unacknowledged();
    for (long index = queue.completed();
        index < queue.started() && queue.lastPsn(index) < upTo;
        index = queue.completed()) {
      boolean signalled = queue.signalled(index);
      long id = queue.id(index);
      Kind kind = kind(queue.operation(index));
      int lengthBytes = queue.lengthBytes(index);
      /* Freed first: a completion that overruns its queue ends this queue pair before it returns. */
      queue.complete();
      if (signalled) {
        qp.completeSend(id, Status.SUCCESS, kind, lengthBytes);
      }
    }
  }

  static Kind kind(Operation operation) {
    return switch (operation) {
      case SEND, SEND_WITH_IMMEDIATE -> Kind.SEND;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Kind.RDMA_WRITE;
      case RDMA_READ -> Kind.RDMA_READ;
    };
  }

  private void lossSeen() {
    if (outstanding.unacknowledged() >= recoveryEnd) {
      recoveryEnd = outstanding.next();
      roundTrip.lost();
    }
    qp.activate();
  }

  private void onNegative(long psn, int syndrome, long nowNs) {
    if (syndrome >> 5 == 1) {
      if (receiverNotReadyUntilNs != NEVER_NS) {
        return;
      }
      if (receiverNotReadyLimit != 7 && ++receiverNotReadyCount > receiverNotReadyLimit) {
        qp.failSend(Status.RECEIVER_NOT_READY_RETRY_EXCEEDED);
        return;
      }
      loseFrom(psn);
      receiverNotReadyUntilNs = nowNs + PacketFormat.receiverNotReadyNs(syndrome & 31);
      timeoutAtNs = NEVER_NS;
      qp.timerAt(receiverNotReadyUntilNs);
      return;
    }
    switch (syndrome) {
      case PacketFormat.SYNDROME_SEQUENCE_ERROR -> {
        loseFrom(psn);
        lossSeen();
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
    if (reading && readEndPsn > psn) {
      readLost = true;
    }
  }

  /** Takes a response to a READ whose CRC was right. */
  void onReadResponse(int opcode, int psn24, long payload, int payloadBytes, long nowNs) {
    long psn = PacketFormat.expand(psn24, outstanding.unacknowledged());
    if (!reading || psn != readPsn || payloadBytes != Math.min(mtu, readEndOffset - readOffset)) {
      counters.drops().count(DropCounters.Reason.UNEXPECTED_RESPONSE);
      return;
    }
    /* A response acknowledges everything before its request. */
    advance(psn, nowNs);
    if (qp.isDead()) {
      return;
    }
    if (!qp.allowsLocalWrite(
        queue.lkey(readIndex), queue.localAddress(readIndex) + readOffset, payloadBytes)) {
      qp.failSend(Status.LOCAL_PROTECTION_ERROR);
      return;
    }
    if (payloadBytes > 0) {
      Memory.copy(payload, queue.localAddress(readIndex) + readOffset, payloadBytes);
    }
    readOffset += payloadBytes;
    readPsn++;
    if (readPsn == readEndPsn) {
      reading = false;
    }
    advance(readPsn, nowNs);
    if (qp.isDead()) {
      return;
    }
    newsArrived(nowNs);
    qp.activate();
  }

  /** Serves what is due, and activates the queue pair where there is something to send. */
  void onTimer(long nowNs) {
    if (receiverNotReadyUntilNs != NEVER_NS && nowNs - receiverNotReadyUntilNs >= 0) {
      receiverNotReadyUntilNs = NEVER_NS;
      armTimeout(nowNs);
      qp.activate();
    }
    if (blockedUntilNs != NEVER_NS && nowNs - blockedUntilNs >= 0) {
      blockedUntilNs = NEVER_NS;
      qp.activate();
    }
    if (timeoutAtNs != NEVER_NS && nowNs - timeoutAtNs >= 0) {
      onTimeout(nowNs);
    }
  }

  private void onTimeout(long nowNs) {
    if (timeoutsWithoutNews > leastTimeouts && nowNs - newsAtNs >= exhaustionNs) {
      qp.failSend(Status.RETRY_EXCEEDED);
      return;
    }
    timeoutsWithoutNews++;
    counters.timedOut();
    if (softPeer && timeoutsWithoutNews == 1 && !reading) {
      /* More often than not the peer only waits for its core. The newest train alone asks it: once that has come,
      everything before it has come or is lost, the bitmap tells which, and till then nothing is sent in vain. */
      outstanding.loseNewest();
    } else {
      roundTrip.timedOut();
      recoveryEnd = outstanding.next();
      loseFrom(outstanding.unacknowledged());
    }
    armTimeout(nowNs);
    qp.activate();
  }

  /** Stops for good: nothing is outstanding and no timer runs. */
  void stop() {
    timeoutAtNs = NEVER_NS;
    receiverNotReadyUntilNs = NEVER_NS;
    blockedUntilNs = NEVER_NS;
    reading = false;
    readLost = false;
    outstanding.stop();
    builder.restart();
  }
}
