package io.heddle.softdevice;

import io.heddle.platform.Errno;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.LinkEnd;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.roce.wire.PsnBits;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A reliable-connection queue pair of the soft device: its state machine, its sending socket and
 * its two halves.
 *
 * <p>Posting threads touch the two queues and the state only; everything else is the lock holder's.
 */
final class SoftQueuePair implements QueuePair {
  private final SoftContext context;
  private final Engine engine;
  private final SoftProtectionDomain pd;
  private final int number;
  private final int slot;
  private final SendQueue sends;
  private final ReceiveQueue receives;
  private final Completer completer;
  private final PeerLinks links = new PeerLinks();
  private final PacketExit exit;
  private final TrainBuilder builder;
  private final Requester requester;
  private final Responder responder;
  private final ReadResponses reads;

  private volatile QueuePairState state = QueuePairState.RESET;
  private int remoteNumber;
  private boolean softPeer;
  private PacketSizes sizes = PacketSizes.standard(PathMtu.MTU_1024);
  private int window;
  private boolean closed;
  private long heardAtNs;
  private @Nullable Companions companions;
  private long waitsUntilRound;
  /* The socket was too full for a response or an acknowledgement. */
  private final Pause blocked = new Pause();

  SoftQueuePair(
      SoftContext context, SoftProtectionDomain pd, QueuePairAttributes attributes, int number) {
    this.context = context;
    this.pd = pd;
    this.number = number;
    engine = context.engine();
    slot = number & Engine.QUEUE_PAIRS - 1;
    int sendBytes = SendQueue.bytes(attributes.sendDepth());
    int queueBytes = sendBytes + ReceiveQueue.bytes(attributes.receiveDepth());
    exit = new PacketExit(engine, links, queueBytes + Responder.TABLES_BYTES);
    sends = new SendQueue(attributes.sendDepth(), exit.tables());
    receives = new ReceiveQueue(attributes.receiveDepth(), exit.tables() + sendBytes);
    completer =
        new Completer(
            engine,
            number,
            sends,
            receives,
            (SoftCompletionQueue) attributes.sendQueue(),
            (SoftCompletionQueue) attributes.receiveQueue());
    MemoryRights rights = new MemoryRights(engine.regions, pd.id());
    TransmitRing ring = exit.ring();
    builder = new TrainBuilder(sends, engine.regions, exit.seal());
    PendingRead read = new PendingRead(rights, sends);
    requester = new Requester(this, exit, sends, ring, builder, read, engine.counters);
    reads = new ReadResponses(this, exit, rights);
    responder =
        new Responder(
            this, exit, rights, receives, reads, engine.counters, exit.tables() + queueBytes);
  }

  @Override
  public String toString() {
    return "soft0 queue pair " + number;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  SoftProtectionDomain pd() {
    return pd;
  }

  boolean uses(SoftCompletionQueue cq) {
    return completer.uses(cq);
  }

  int slot() {
    return slot;
  }

  @Override
  public long resentPackets() {
    return requester.resentPackets();
  }

  @Override
  public long peerSilentNs() {
    return requester.peerSilentNs(engine.nowNs());
  }

  /* Control path. */

  @Override
  public byte[] endpointParameters() {
    synchronized (context) {
      EndpointParameters parameters = links.parameters();
      if (parameters == null) {
        throw new VerbsException(
            "query_qp", this + ": it has no address before initialise", Errno.EINVAL);
      }
      return context.arePeersStandard() ? new byte[0] : parameters.toBytes();
    }
  }

  private void require(QueuePairState needed, String target) {
    if (closed || state != needed) {
      throw new VerbsException(
          "modify_qp",
          this + " in state " + (closed ? "closed" : state) + " to " + target,
          Errno.EINVAL);
    }
  }

  @Override
  public void initialise(int gidIndex) {
    initialise(new int[] {gidIndex});
  }

  @Override
  public void initialise(int[] gidIndexes) {
    synchronized (context) {
      require(QueuePairState.RESET, "INIT");
      List<PeerLinks.@Nullable Opened> opened = context.openLinks(gidIndexes, this);
      engine.lock.lock();
      try {
        links.use(opened);
        state = QueuePairState.INIT;
      } finally {
        engine.unlock();
      }
    }
  }

  @Override
  public void readyToReceive(ReadyToReceiveAttributes attributes) {
    synchronized (context) {
      require(QueuePairState.INIT, "RTR");
      boolean soft = attributes.peerParameters().length > 0 && !context.arePeersStandard();
      EndpointParameters peer =
          soft ? EndpointParameters.parse(attributes.peerParameters(), toString()) : null;
      List<LinkEnd> ends = links.ends(attributes, peer, this);
      boolean[] connected = links.connect(ends, attributes.trafficClass(), this);
      engine.lock.lock();
      try {
        links.believe(ends, connected, peer, this);
        softPeer = soft;
        sizes = links.sizes(attributes.mtu(), peer);
        remoteNumber = attributes.remoteQueuePairNumber() & PacketFormat.PSN_MASK;
        window = links.window(sizes.narrow());
        exit.answerBy(0);
        exit.sealAnswers();
        builder.configure(
            sizes, soft, pd.id(), remoteNumber, Math.min(window, Requester.readPackets()));
        reads.configure(sizes.mtuBytes());
        responder.start(
            attributes.receivePsn(),
            sizes,
            soft,
            links.count() > 1,
            attributes.receiverNotReadyTimerCode());
        state = QueuePairState.READY_TO_RECEIVE;
      } finally {
        engine.unlock();
      }
    }
  }

  @Override
  public void readyToSend(ReadyToSendAttributes attributes) {
    synchronized (context) {
      require(QueuePairState.READY_TO_RECEIVE, "RTS");
      context.usesNoMore(companions);
      Companions fresh = context.companions(attributes.peer());
      engine.lock.lock();
      try {
        companions = fresh;
        heardAtNs = engine.nowNs();
        if (fresh != null) {
          fresh.join(this);
        }
        requester.start(attributes, sizes, softPeer, window, links, engine.nowNs());
        state = QueuePairState.READY_TO_SEND;
      } finally {
        engine.unlock();
      }
    }
  }

  @Override
  public void weighLinks(int[] weights) {
    whileOpen(() -> requester.weighLinks(weights));
  }

  @Override
  public void linkLost(int link) {
    whileOpen(() -> {
      if (state == QueuePairState.READY_TO_SEND) {
        requester.linkLost(link, engine.nowNs());
      }
    });
  }

  @Override
  public List<LinkCounts> linkCounts() {
    List<LinkCounts> counts = new ArrayList<>();
    whileOpen(() -> counts.addAll(requester.linkCounts(links)));
    return counts;
  }

  @Override
  public void toError() {
    whileOpen(this::die);
  }

  @Override
  public void reset() {
    whileOpen(() -> {
      halt(QueuePairState.RESET);
      sends.clear();
      receives.clear();
    });
  }

  /* Nothing where it is closed: a closed context holds the lock for ever. */
  private void whileOpen(Runnable change) {
    synchronized (context) {
      if (closed) {
        return;
      }
      engine.lock.lock();
      try {
        change.run();
      } finally {
        engine.unlock();
      }
    }
  }

  private void halt(QueuePairState target) {
    engine.departures.clear();
    if (companions != null) {
      companions.leave(this);
    }
    state = target;
    requester.stop();
    responder.stop();
  }

  @Override
  public void close() {
    synchronized (context) {
      if (closed) {
        return;
      }
      whileOpen(() -> {
        closed = true;
        halt(QueuePairState.RESET);
        engine.remove(slot);
        links.close();
        completer.detach();
      });
      exit.free();
      context.usesNoMore(companions);
      context.closed(this);
    }
  }

  /* Posting threads. */

  @Override
  public int postSend(SendWorkRequest first) {
    QueuePairState now = state;
    if (now != QueuePairState.READY_TO_SEND && now != QueuePairState.ERROR) {
      return -Errno.EINVAL;
    }
    if (!links.carry(first)) {
      return -Errno.EINVAL;
    }
    int taken = sends.post(first);
    if (taken > 0) {
      engine.posted(slot);
    }
    return taken;
  }

  @Override
  public int postEmptyReceives(long id, int count) {
    return post(id, 0, 0, 0, count);
  }

  @Override
  public int postReceive(long id, long address, int lengthBytes, int lkey) {
    return lengthBytes < 0 ? -Errno.EINVAL : post(id, address, lengthBytes, lkey, 1);
  }

  private int post(long id, long address, int lengthBytes, int lkey, int count) {
    if (state == QueuePairState.RESET) {
      return -Errno.EINVAL;
    }
    if (!receives.post(id, address, lengthBytes, lkey, count)) {
      return -Errno.ENOMEM;
    }
    /* Read after the post: either this sees ERROR and rings, or die() sees the receive and flushes it. */
    java.lang.invoke.VarHandle.fullFence();
    if (state == QueuePairState.ERROR) {
      engine.posted(slot);
    }
    return 0;
  }

  /* The lock holder. */

  PeerLinks links() {
    return links;
  }

  void onPacket(int opcode, long packet, long payload, int payloadBytes, int link, long nowNs) {
    exit.answerBy(link);
    if (state == QueuePairState.ERROR) {
      engine.counters.drops().count(DropCounters.Reason.IN_FLIGHT_AFTER_ERROR);
      if (opcode <= PacketFormat.READ_REQUEST) {
        responder.repeatRefusal();
      }
      return;
    }
    heardAtNs = nowNs;
    if (opcode <= PacketFormat.READ_REQUEST) {
      int thirdWord = PacketFormat.networkInt(packet + 8);
      responder.onRequest(opcode, thirdWord, packet, payload, payloadBytes, nowNs);
    } else if (state != QueuePairState.READY_TO_SEND) {
      engine.counters.drops().count(DropCounters.Reason.WRONG_STATE);
    } else if (opcode == PacketFormat.ACKNOWLEDGE) {
      onAcknowledge(packet, payload, payloadBytes, nowNs);
      activate();
    } else {
      requester.onReadResponse(opcode, PacketFormat.psn(packet), payload, payloadBytes, nowNs);
    }
  }

  /** Takes packets of a row, as {@link WriteRows} does; 0 where the first one isn't plain. */
  int onRow(WriteRows rows, long packet, int stride, int most, int link, long nowNs) {
    if (!softPeer
        || state != QueuePairState.READY_TO_SEND && state != QueuePairState.READY_TO_RECEIVE) {
      return 0;
    }
    int taken = responder.onRow(rows, packet, stride, most, links.get(link).receiveFlow(), nowNs);
    if (taken > 0) {
      heardAtNs = nowNs;
      exit.answerBy(link);
    }
    return taken;
  }

  long heardAtNs() {
    return heardAtNs;
  }

  /** When something of the peer's came last, by whichever way. */
  long peerHeardAtNs() {
    return companions == null ? heardAtNs : companions.heardAtNs();
  }

  /** See {@link Companions#ask}. */
  void askCompanions(long nowNs) {
    if (companions != null) {
      companions.ask(nowNs);
    }
  }

  void askIfIdle(long nowNs) {
    requester.askIfIdle(nowNs);
  }

  private void onAcknowledge(long packet, long payload, int payloadBytes, long nowNs) {
    int syndrome = PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES) >>> 24;
    long bitmap = payload + PacketFormat.WAITED_BYTES;
    int bitmapBytes = payloadBytes - PacketFormat.WAITED_BYTES;
    if (softPeer && bitmapBytes >= 0) {
      long waitedUs = PacketFormat.networkInt(payload) & 0xffff_ffffL;
      requester.onTag(PacketFormat.tag(packet), waitedUs * 1000 + engine.waitedNs(), nowNs);
    }
    int words = softPeer ? Math.clamp(bitmapBytes / 8, 0, PsnBits.SIZE / 64 + 1) : 0;
    requester.onAcknowledge(PacketFormat.psn(packet), syndrome, bitmap, words, nowNs);
  }

  /** How long the packet in hand may have lain in its socket at most. */
  long waitedNs() {
    return engine.waitedNs();
  }

  /** Sends what is due. True when there is more that could leave at once. */
  boolean transmit(long nowNs, int trains) {
    if (state == QueuePairState.ERROR) {
      completer.flush();
      return false;
    }
    if (state == QueuePairState.RESET || state == QueuePairState.INIT) {
      return false;
    }
    boolean sends = state == QueuePairState.READY_TO_SEND;
    boolean carries = sends && requester.nextCarries();
    if (!carries && !responder.flush(nowNs)) {
      return blocked(nowNs);
    }
    for (int i = 0; i < trains && reads.hasMore(); i++) {
      if (!reads.transmit()) {
        return blocked(nowNs);
      }
    }
    boolean more = reads.hasMore();
    more |= sends && requester.transmit(nowNs, trains);
    if (carries && !isDead() && !responder.flush(nowNs)) {
      return blocked(nowNs);
    }
    return more;
  }

  /** See {@link Responder#append}. */
  int appendAcknowledgement(long packet, int most, long nowNs) {
    return responder.append(packet, most, nowNs);
  }

  void acknowledgementCarried() {
    responder.acknowledger().carried();
  }

  /** An acknowledgement may wait that many rounds for a packet that carries it. */
  void waitRounds(int rounds) {
    waitsUntilRound = engine.waitRounds(slot, rounds);
  }

  /** Whether the round is the background thread's, since nobody else makes any. */
  boolean callersAreGone() {
    return engine.callersAreGone();
  }

  long waitsUntilRound() {
    return waitsUntilRound;
  }

  void waitIsOver() {
    responder.acknowledger().endWait();
  }

  private boolean blocked(long nowNs) {
    blocked.begin(nowNs + Pause.FULL_SOCKET_NS);
    timerAt(blocked.dueNs());
    return false;
  }

  void onTimer(long nowNs) {
    if (blocked.endIfDue(nowNs)) {
      activate();
    }
    if (state == QueuePairState.READY_TO_SEND) {
      requester.onTimer(nowNs);
    }
    responder.onTimer(nowNs);
  }

  long dueNs() {
    return Math.min(blocked.dueNs(), Math.min(requester.dueNs(), responder.dueNs()));
  }

  void timerAt(long whenNs) {
    engine.timerAt(whenNs);
  }

  void activate() {
    engine.activate(slot);
  }

  boolean isDead() {
    return state == QueuePairState.ERROR;
  }

  int remoteNumber() {
    return remoteNumber;
  }

  /** The packet in hand was taken, that many numbers ahead of the first missing one. */
  void took(int payloadBytes, int numbersAhead) {
    links.get(exit.answering()).took(payloadBytes, numbersAhead);
  }

  Completer completer() {
    return completer;
  }

  /** The oldest send failed: it completes so, everything behind it is flushed. */
  void failSend(Status status) {
    if (state != QueuePairState.ERROR && completer.failOldestSend(status)) {
      fail(AsyncEventListener.Kind.QUEUE_PAIR_FATAL);
    }
  }

  /** To ERROR on the device's own motion, with an event. */
  void fail(AsyncEventListener.Kind kind) {
    if (state != QueuePairState.ERROR) {
      engine.events.add(kind, number);
      die();
    }
  }

  /** To ERROR: nothing leaves any more, nothing is executed any more, everything is flushed. */
  void die() {
    if (state != QueuePairState.ERROR) {
      halt(QueuePairState.ERROR);
    }
    completer.flush();
  }
}
