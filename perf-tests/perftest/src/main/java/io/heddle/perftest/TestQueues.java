package io.heddle.perftest;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.RandomBytes;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Queue pairs of one end, their completion queues and their memory, laid out as perftest does: a
 * send piece per queue pair, then a receive piece per queue pair. Each piece has room for the
 * largest message, and for the cycle of offsets that small messages use in turn.
 */
final class TestQueues implements AutoCloseable {
  private static final int RECEIVER_NOT_READY_TIMER_CODE = 12;
  private static final int RETRY_FOR_EVER = 7;
  private static final int READS_ANSWERED = 16;
  /*
   * Additional entry of a send queue, for the signalled message that ends a test with a duration:
   * the window may be full then.
   */
  private static final int CLOSING_MESSAGES = 1;
  private static final int PSN_BITS = 24;
  private static final int PAGE_BYTES = 4096;
  private static final Set<ProtectionDomain.Access> ACCESS =
      EnumSet.of(
          ProtectionDomain.Access.LOCAL_WRITE,
          ProtectionDomain.Access.REMOTE_WRITE,
          ProtectionDomain.Access.REMOTE_READ);

  private final DeviceContext context;
  private final Settings.Link link;
  private final Arena arena = Arena.ofShared();
  private final ProtectionDomain pd;
  private final CompletionQueue sendQueue;
  private final CompletionQueue receiveQueue;
  private final List<QueuePair> queuePairs = new ArrayList<>();
  private final List<Lane> lanes;
  private final List<QueuePairRecord> own = new ArrayList<>();
  private final QueuePairRecord[] remote;
  private final int[] laneOf;
  private final long pieceBytes;
  private final MemoryRegion memory;
  private final PerftestDialogue.BufferRules rules;
  private final int inlineBytes;

  /**
   * @param count total number of queue pairs; queue pair i uses the local address {@code
   *     lanes.get(i % lanes.size())}
   * @throws HeddleException if the device refuses; everything is closed again then
   */
  TestQueues(
      DeviceContext context,
      Settings settings,
      List<Lane> lanes,
      int count,
      PerftestDialogue.BufferRules rules) {
    this.context = context;
    this.link = settings.link();
    this.lanes = List.copyOf(lanes);
    this.rules = rules;
    this.inlineBytes = settings.traffic().inlineBytes();
    this.remote = new QueuePairRecord[count];
    this.laneOf = new int[count];
    Settings.Traffic traffic = settings.traffic();
    long piece = Math.max(traffic.sizeBytes(), rules.cycleBytes());
    pieceBytes =
        (piece + rules.cacheLineBytes() - 1) / rules.cacheLineBytes() * rules.cacheLineBytes();
    ProtectionDomain domain = null;
    try {
      domain = context.allocateProtectionDomain();
      pd = domain;
      sendQueue =
          context.createCompletionQueue(
              Math.multiplyExact(traffic.sendDepth() + CLOSING_MESSAGES, count));
      receiveQueue =
          context.createCompletionQueue(Math.multiplyExact(traffic.receiveDepth(), count));
      long bytes = 2 * pieceBytes * count;
      memory = pd.registerMemory(allocate(bytes), bytes, ACCESS);
      boolean reads = settings.kind().isRead();
      for (int i = 0; i < count; i++) {
        add(i, traffic, reads);
      }
    } catch (RuntimeException | Error failed) {
      closeAll(domain);
      throw failed;
    }
  }

  private long allocate(long bytes) {
    try {
      return Memory.allocate(arena, bytes, PAGE_BYTES);
    } catch (OutOfMemoryError tooMuch) {
      throw new HeddleException(
          "out of memory for "
              + bytes
              + " bytes of buffers; use fewer queue pairs (-q) or a smaller -s",
          tooMuch);
    }
  }

  private void add(int index, Settings.Traffic traffic, boolean reads) {
    laneOf[index] = index % lanes.size();
    Lane lane = lanes.get(laneOf[index]);
    QueuePair qp =
        pd.createQueuePair(
            new QueuePairAttributes(
                sendQueue,
                receiveQueue,
                traffic.sendDepth() + CLOSING_MESSAGES,
                traffic.receiveDepth(),
                traffic.inlineBytes()));
    queuePairs.add(qp);
    qp.initialise(lane.gidIndex());
    own.add(
        new QueuePairRecord(
            0,
            reads ? READS_ANSWERED : 1,
            qp.number(),
            RandomBytes.nextBits(PSN_BITS),
            memory.rkey(),
            receivePiece(index),
            lane.gid()));
  }

  int count() {
    return queuePairs.size();
  }

  /**
   * Returns the length of the longest message that is sent inline: the requested length, or less if
   * the device supports less.
   */
  int inlineBytes() {
    return Math.min(inlineBytes, queuePairs.getFirst().inlineBytes());
  }

  boolean isInline(long sizeBytes) {
    return sizeBytes > 0 && sizeBytes <= inlineBytes();
  }

  DeviceContext context() {
    return context;
  }

  List<Lane> lanes() {
    return lanes;
  }

  int laneOf(int index) {
    return laneOf[index];
  }

  QueuePair queuePair(int index) {
    return queuePairs.get(index);
  }

  CompletionQueue sendQueue() {
    return sendQueue;
  }

  CompletionQueue receiveQueue() {
    return receiveQueue;
  }

  int lkey() {
    return memory.lkey();
  }

  long sendPiece(int index) {
    return memory.address() + pieceBytes * index;
  }

  long receivePiece(int index) {
    return memory.address() + pieceBytes * (remote.length + index);
  }

  /** Returns this end's record of a queue pair. */
  QueuePairRecord own(int index) {
    return own.get(index);
  }

  /** Returns the peer's record of the queue pair with this index. */
  QueuePairRecord remote(int index) {
    return remote[index];
  }

  void setRemote(int index, QueuePairRecord record) {
    remote[index] = record;
  }

  byte[] endpointParameters(int index) {
    return queuePairs.get(index).endpointParameters();
  }

  /**
   * Returns the distance in bytes between consecutive small messages in a piece. Returns 0 if all
   * messages use the start of the piece.
   */
  long strideBytes(long sizeBytes) {
    long line = rules.cacheLineBytes();
    return sizeBytes > rules.cycleBytes() / 2
        ? 0
        : Math.max(line, (sizeBytes + line - 1) / line * line);
  }

  /** Returns the number of messages in a cycle, after which the offset in the piece is 0 again. */
  int strides(long sizeBytes) {
    long stride = strideBytes(sizeBytes);
    return stride == 0 ? 1 : (int) Math.max(1, rules.cycleBytes() / stride);
  }

  /** Moves a queue pair from INIT to RTR and to RTS. */
  void connect(int index, PathMtu mtu, byte[] peerParameters) {
    QueuePairRecord peer = remote[index];
    Lane lane = lanes.get(laneOf[index]);
    if (peer.gid().isIpv4Mapped() != lane.gid().isIpv4Mapped()) {
      throw new HeddleException(
          "this end uses %s, the other %s: both must be IPv6 or both IPv4; -x chooses"
              .formatted(lane.gid(), peer.gid()));
    }
    QueuePair qp = queuePairs.get(index);
    qp.readyToReceive(
        new ReadyToReceiveAttributes(
            mtu,
            peer.gid(),
            peer.queuePairNumber(),
            peer.psn(),
            peerParameters,
            RECEIVER_NOT_READY_TIMER_CODE,
            link.trafficClass(),
            link.serviceLevel()));
    qp.readyToSend(
        new ReadyToSendAttributes(
            own.get(index).psn(), link.timeoutCode(), link.retryCount(), RETRY_FOR_EVER));
  }

  /** Returns a description of a queue pair, its local address and its peer, for error messages. */
  String describe(int index) {
    QueuePairRecord peer = remote[index];
    return "queue pair %#x on %s to %s"
        .formatted(
            queuePairs.get(index).number(),
            lanes.get(laneOf[index]),
            peer == null ? "nobody" : peer.gid());
  }

  private void closeAll(@org.jspecify.annotations.Nullable ProtectionDomain domain) {
    /* The context is about to be closed too, and closes all other objects. */
    if (domain != null) {
      domain.close();
    }
    arena.close();
  }

  @Override
  public void close() {
    pd.close();
    sendQueue.close();
    receiveQueue.close();
    arena.close();
  }
}
