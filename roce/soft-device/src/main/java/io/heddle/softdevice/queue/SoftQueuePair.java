package io.heddle.softdevice.queue;

import io.heddle.platform.Errno;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.ReceiveQueue;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.transport.connection.ReliableConnection;
import io.heddle.roce.transport.requester.PeerGroup;
import io.heddle.roce.transport.responder.WriteBatchReceiver;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.LinkEnd;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.softdevice.io.PeerLink;
import io.heddle.softdevice.io.PeerLinks;
import io.heddle.softdevice.io.SocketOutlet;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.Gid;
import io.heddle.verbs.LinkCounts;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reliable-connection queue pair of the soft device: its state machine, links, transport and
 * completion queues.
 *
 * <p>Posting threads access only the two work queues and the state; everything else belongs to the
 * lock's holder.
 */
final class SoftQueuePair implements QueuePair, QueuePairEvents {
  private final DeviceParts device;
  private final Object monitor;
  private final Engine engine;
  private final int pdId;
  private final Consumer<SoftQueuePair> onClose;
  private final int number;
  private final int slot;
  private final SendQueue sends;
  private final ReceiveQueue receives;
  private final SoftCompletionQueue sendCompletions;
  private final SoftCompletionQueue receiveCompletions;
  private final PeerLinks links = new PeerLinks();
  private final SocketOutlet outlet;
  private final ReliableConnection connection;

  private volatile QueuePairState state = QueuePairState.RESET;
  private PacketSizes sizes = PacketSizes.standard(PathMtu.MTU_1024);
  private boolean closed;
  private @Nullable PeerGroup peerGroup;

  /**
   * @param pdId id of the protection domain
   * @param onClose called when the queue pair is closed, with the monitor held
   */
  SoftQueuePair(
      DeviceParts device,
      int pdId,
      QueuePairAttributes attributes,
      int number,
      Consumer<SoftQueuePair> onClose) {
    this.device = device;
    this.onClose = onClose;
    monitor = device.monitor();
    this.pdId = pdId;
    this.number = number;
    engine = device.engine();
    slot = QueuePairTable.slotOf(number);
    int sendBytes = SendQueue.bytes(attributes.sendDepth());
    int queueBytes = sendBytes + ReceiveQueue.bytes(attributes.receiveDepth());
    outlet =
        new SocketOutlet(
            engine.sendStage,
            engine.narrowPathWarning,
            engine.counters.trains(),
            engine.shares,
            links,
            queueBytes + ReliableConnection.TABLES_BYTES);
    sends = new SendQueue(attributes.sendDepth(), outlet.tables());
    receives = new ReceiveQueue(attributes.receiveDepth(), outlet.tables() + sendBytes);
    sendCompletions = (SoftCompletionQueue) attributes.sendQueue();
    receiveCompletions = (SoftCompletionQueue) attributes.receiveQueue();
    connection =
        new ReliableConnection(
            number,
            this,
            outlet,
            outlet.memory(),
            sends,
            receives,
            new MemoryRights(engine.regions, pdId),
            engine.counters,
            outlet.tables() + queueBytes);
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

  int pdId() {
    return pdId;
  }

  boolean usesQueue(SoftCompletionQueue cq) {
    return cq == sendCompletions || cq == receiveCompletions;
  }

  int slot() {
    return slot;
  }

  @Override
  public long resentPackets() {
    return connection.resentPackets();
  }

  @Override
  public long peerSilentNs() {
    return connection.peerSilentNs(engine.nowNs());
  }

  @Override
  public String destination() {
    synchronized (monitor) {
      return links.destinations();
    }
  }

  /* Methods of the control path. */

  @Override
  public byte[] endpointParameters() {
    synchronized (monitor) {
      EndpointParameters parameters = links.parameters();
      if (parameters == null) {
        throw new VerbsException(
            "query_qp", this + ": it has no address before INIT", Errno.EINVAL);
      }
      return device.arePeersStandard() ? new byte[0] : parameters.toBytes();
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
    synchronized (monitor) {
      require(QueuePairState.RESET, "INIT");
      List<PeerLinks.@Nullable LocalEnd> opened = device.sockets().open(gidIndexes, this);
      engine.lock.lock();
      try {
        links.setLinks(opened);
        state = QueuePairState.INIT;
      } finally {
        engine.unlock();
      }
    }
  }

  @Override
  public void readyToReceive(ReadyToReceiveAttributes attributes) {
    synchronized (monitor) {
      require(QueuePairState.INIT, "RTR");
      boolean soft = attributes.peerParameters().length > 0 && !device.arePeersStandard();
      if (attributes.peerParameters().length == 0) {
        refuseStandardOverIpv4(attributes.remoteGid());
      }
      EndpointParameters peer =
          soft ? EndpointParameters.parse(attributes.peerParameters(), toString()) : null;
      List<LinkEnd> ends = links.peerEnds(attributes, peer, this);
      boolean[] connected =
          links.connect(ends, attributes.trafficClass(), device.sockets().egressPinning(), this);
      engine.lock.lock();
      try {
        links.acceptPeer(ends, connected, peer, this);
        sizes = links.sizes(attributes.mtu(), peer);
        connection.startReceiving(attributes, sizes, soft, links.count());
        state = QueuePairState.READY_TO_RECEIVE;
      } finally {
        engine.unlock();
      }
    }
  }

  /*
   * Throws if the peer is a standard device at an IPv4 address. On the loopback all peers are soft
   * devices.
   */
  private void refuseStandardOverIpv4(Gid peer) {
    if (peer.isIpv4Mapped()
        && !device.arePeersStandard()
        && !peer.toAddress().isLoopbackAddress()) {
      throw new VerbsException(
          "modify_qp to RTR",
          ("%s: %s isn't a soft device, and the ICRC of other devices over IPv4 covers the IP"
               + " identification, which the kernel sets later; use IPv6 planes, or soft devices at"
               + " both ends")
              .formatted(this, peer),
          Errno.EOPNOTSUPP);
    }
  }

  @Override
  public void readyToSend(ReadyToSendAttributes attributes) {
    synchronized (monitor) {
      require(QueuePairState.READY_TO_RECEIVE, "RTS");
      device.peerGroups().release(peerGroup);
      PeerGroup fresh = device.peerGroups().join(attributes.peer());
      engine.lock.lock();
      try {
        peerGroup = fresh;
        connection.startSending(attributes, links.toLinkSet(sizes), fresh, engine.nowNs());
        state = QueuePairState.READY_TO_SEND;
      } finally {
        engine.unlock();
      }
    }
  }

  @Override
  public void setLinkWeights(int[] weights) {
    whileOpen(() -> connection.setLinkWeights(weights));
  }

  @Override
  public void linkLost(int link) {
    whileOpen(() -> {
      if (state == QueuePairState.READY_TO_SEND) {
        connection.linkLost(link, engine.nowNs());
      }
    });
  }

  @Override
  public List<LinkCounts> linkCounts() {
    List<LinkCounts> counts = new ArrayList<>();
    whileOpen(() -> counts.addAll(connection.linkCounts()));
    return counts;
  }

  @Override
  public void refuseRequests() {
    whileOpen(connection::refuseRequests);
  }

  @Override
  public void toError() {
    whileOpen(this::enterError);
  }

  @Override
  public void reset() {
    whileOpen(() -> {
      halt(QueuePairState.RESET);
      sends.clear();
      receives.clear();
    });
  }

  /* Runs a change, unless the queue pair is closed: a closed context never releases the lock. */
  private void whileOpen(Runnable change) {
    synchronized (monitor) {
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
    engine.sendStage.clear();
    state = target;
    connection.stop();
  }

  @Override
  public void close() {
    synchronized (monitor) {
      if (closed) {
        return;
      }
      whileOpen(() -> {
        closed = true;
        halt(QueuePairState.RESET);
        engine.remove(slot);
        links.close();
        sendCompletions.detach();
        receiveCompletions.detach();
      });
      outlet.free();
      device.peerGroups().release(peerGroup);
      onClose.accept(this);
    }
  }

  /* Methods for posting threads. */

  @Override
  public int postSend(SendWorkRequest first) {
    QueuePairState now = state;
    if (now != QueuePairState.READY_TO_SEND && now != QueuePairState.ERROR) {
      return -Errno.EINVAL;
    }
    if (!links.support(first)) {
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
    /*
     * Reads the state after the post. Either this thread sees ERROR and rings the doorbell, or
     * enterError() sees the receive and flushes it.
     */
    java.lang.invoke.VarHandle.fullFence();
    if (state == QueuePairState.ERROR) {
      engine.posted(slot);
    }
    return 0;
  }

  /* Methods for the lock's holder. */

  PeerLinks links() {
    return links;
  }

  /** Processes a packet; see {@link ReliableConnection#onPacket}. */
  void onPacket(int opcode, long packet, long payload, int payloadBytes, int link, long nowNs) {
    connection.onPacket(opcode, packet, payload, payloadBytes, link, nowNs);
  }

  /** Processes consecutive WRITE packets together; see {@link ReliableConnection#onBatch}. */
  int onBatch(WriteBatchReceiver batches, long packet, int stride, int most, int link, long nowNs) {
    return connection.onBatch(
        batches, packet, stride, most, link, links.get(link).receiveFlow(), nowNs);
  }

  /** Sends due packets. Returns true if more packets could be sent at once. */
  boolean transmit(long nowNs, int trains) {
    return connection.transmit(nowNs, trains);
  }

  /** Returns whether a waiting acknowledgement has the same path as this link. */
  boolean hasAnswerFor(PeerLink link) {
    return connection.hasAnswerWaiting() && links.get(connection.answerLink()).hasSamePath(link);
  }

  /** Sends the waiting acknowledgement along with another queue pair's packet. */
  void acknowledgeWithPacket(long nowNs) {
    connection.acknowledgeWithPacket(nowNs);
  }

  void endAcknowledgementWait() {
    connection.endAcknowledgementWait();
  }

  void onTimer(long nowNs) {
    connection.onTimer(nowNs);
  }

  long dueNs() {
    return connection.dueNs();
  }

  /** Moves to ERROR: stops sending and executing, flushes all requests. */
  void enterError() {
    if (state != QueuePairState.ERROR) {
      halt(QueuePairState.ERROR);
    }
    connection.flush();
  }

  private void push(
      SoftCompletionQueue to,
      long id,
      Status status,
      Kind kind,
      int lengthBytes,
      boolean hasImmediate,
      int immediate) {
    boolean before = to.isOverrun();
    if (!to.push(id, status, kind, lengthBytes, hasImmediate, immediate) && !before) {
      engine.queuePairs.failUsersOf(to);
      engine.publishEvent(AsyncEventListener.Kind.COMPLETION_QUEUE_ERROR, number);
    }
  }

  /* Callbacks from the transport. */

  @Override
  public boolean isInError() {
    return state == QueuePairState.ERROR;
  }

  @Override
  public void fail(AsyncEventListener.Kind kind) {
    if (state != QueuePairState.ERROR) {
      enterError();
      engine.publishEvent(kind, number);
    }
  }

  @Override
  public void completeSend(long id, Status status, Kind kind, int lengthBytes) {
    push(sendCompletions, id, status, kind, lengthBytes, false, 0);
  }

  @Override
  public void completeReceive(
      long id, Status status, Kind kind, int lengthBytes, boolean hasImmediate, int immediate) {
    push(receiveCompletions, id, status, kind, lengthBytes, hasImmediate, immediate);
  }

  @Override
  public void timerAt(long whenNs) {
    engine.timerAt(whenNs);
  }

  @Override
  public void activate() {
    engine.activate(slot);
  }

  @Override
  public void waitRounds(int rounds) {
    engine.waitRounds(slot, rounds);
  }

  @Override
  public boolean areCallersIdle() {
    return engine.areCallersIdle();
  }

  @Override
  public long longestSocketWaitNs() {
    return engine.longestSocketWaitNs();
  }
}
