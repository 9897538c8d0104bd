package io.heddle.verbs.testing;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;

/** Reliable-connection queue pair on a {@link LoopbackFabric}; guarded by the fabric's monitor. */
final class LoopbackQueuePair extends LoopbackProvider.Owned implements QueuePair {
  private static final long NOT_READY_TIMER_NS = 640_000;
  private static final int UNLIMITED_RETRIES = 7;

  private record Receive(long id, long address, int lengthBytes, int lkey) {}

  private final LoopbackProvider.Domain pd;
  private final LoopbackFabric fabric;
  private final LoopbackCompletionQueue sendQueue;
  private final LoopbackCompletionQueue receiveQueue;
  private final int number;

  /* Ring of sends: acknowledged up to head, executed at the peer up to next, posted up to tail. */
  private final SendWorkRequest[] sends;
  private final int inlineBytes;
  private final Arena arena = Arena.ofAuto();
  private final long inlinePayloads;
  private long head;
  private long next;
  private long tail;

  /* Ring of receives: each one's id, and a Receive or, for a receive without memory, null. */
  private final long[] receiveIds;
  private final Receive[] receives;
  private long receiveHead;
  private long receiveTail;

  private QueuePairState state = QueuePairState.RESET;
  private Gid localGid;
  private Gid remoteGid;
  private int remoteNumber;
  private int expectedPsn;
  private int startPsn;
  private int retries;
  private int notReadyRetries;
  private long timeoutNs;
  private long waitingSince;
  private boolean waitingForReceive;
  private long peerGroup;
  private volatile boolean held;
  private boolean isRefusing;

  LoopbackQueuePair(LoopbackProvider.Domain pd, QueuePairAttributes attributes) {
    super(pd.ledger(), pd);
    this.pd = pd;
    this.fabric = pd.context().fabric();
    this.sendQueue = (LoopbackCompletionQueue) attributes.sendQueue();
    this.receiveQueue = (LoopbackCompletionQueue) attributes.receiveQueue();
    this.sends = new SendWorkRequest[attributes.sendDepth()];
    for (int i = 0; i < sends.length; i++) {
      sends[i] = new SendWorkRequest();
    }
    this.inlineBytes = attributes.inlineBytes();
    this.inlinePayloads =
        Memory.allocate(arena, Math.max(1, (long) inlineBytes * sends.length), 64);
    this.receiveIds = new long[attributes.receiveDepth()];
    this.receives = new Receive[attributes.receiveDepth()];
    synchronized (fabric) {
      number = fabric.add(this);
      sendQueue.attach();
      receiveQueue.attach();
    }
  }

  boolean hasWork() {
    return head != tail;
  }

  Gid localGid() {
    return localGid;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairState state() {
    synchronized (fabric) {
      return state;
    }
  }

  @Override
  public int inlineBytes() {
    return inlineBytes;
  }

  @Override
  public byte[] endpointParameters() {
    return new byte[0];
  }

  private void require(QueuePairState wanted, String step) {
    if (state != wanted) {
      throw new VerbsException("modify_qp", step + " of a queue pair in " + state, Errno.EINVAL);
    }
  }

  @Override
  public void initialise(int gidIndex) {
    synchronized (fabric) {
      require(QueuePairState.RESET, "INIT");
      localGid = pd.context().gid(gidIndex);
      state = QueuePairState.INIT;
    }
  }

  @Override
  public void readyToReceive(ReadyToReceiveAttributes attributes) {
    synchronized (fabric) {
      require(QueuePairState.INIT, "RTR");
      int refusal = fabric.connectRefusal();
      if (refusal != 0) {
        throw new VerbsException(
            "modify_qp", "loopback queue pair " + number() + " to RTR", refusal);
      }
      remoteGid = attributes.remoteGid();
      remoteNumber = attributes.remoteQueuePairNumber();
      expectedPsn = attributes.receivePsn();
      state = QueuePairState.READY_TO_RECEIVE;
    }
  }

  @Override
  public void readyToSend(ReadyToSendAttributes attributes) {
    synchronized (fabric) {
      require(QueuePairState.READY_TO_RECEIVE, "RTS");
      startPsn = attributes.sendPsn();
      retries = attributes.retryCount();
      peerGroup = attributes.peer();
      notReadyRetries = attributes.receiverNotReadyRetryCount();
      timeoutNs = 4_096L << attributes.timeoutCode();
      state = QueuePairState.READY_TO_SEND;
    }
  }

  @Override
  public void refuseRequests() {
    synchronized (fabric) {
      isRefusing = true;
    }
  }

  @Override
  public void toError() {
    synchronized (fabric) {
      if (state != QueuePairState.ERROR) {
        state = QueuePairState.ERROR;
        held = false;
        flush();
      }
    }
  }

  /* Completes all outstanding requests as flushed. */
  private void flush() {
    while (head != tail) {
      SendWorkRequest wr = sends[(int) (head++ % sends.length)];
      sendQueue.push(wr.id, Status.WORK_REQUEST_FLUSHED);
    }
    next = tail;
    while (receiveHead != receiveTail) {
      receiveQueue.push(takeReceive(), Status.WORK_REQUEST_FLUSHED);
    }
  }

  private long takeReceive() {
    return receiveIds[(int) (receiveHead++ % receiveIds.length)];
  }

  @Override
  public void reset() {
    synchronized (fabric) {
      state = QueuePairState.RESET;
      held = false;
      isRefusing = false;
      head = next = tail = 0;
      receiveHead = receiveTail = 0;
      waitingSince = 0;
      localGid = null;
    }
  }

  @Override
  public int postSend(SendWorkRequest first) {
    synchronized (fabric) {
      if (state != QueuePairState.READY_TO_SEND && state != QueuePairState.ERROR) {
        return -Errno.EINVAL;
      }
      int taken = 0;
      for (SendWorkRequest wr = first; wr != null; wr = wr.next) {
        if (tail - head == sends.length) {
          break;
        }
        if (wr.inline && wr.lengthBytes > inlineBytes) {
          break;
        }
        int slot = (int) (tail++ % sends.length);
        copy(wr, sends[slot]);
        if (wr.inline) {
          sends[slot].localAddress = inlinePayloads + (long) inlineBytes * slot;
          Memory.copy(wr.localAddress, sends[slot].localAddress, wr.lengthBytes);
          fabric.countInline();
        }
        taken++;
      }
      if (state == QueuePairState.ERROR) {
        flush();
      }
      return taken;
    }
  }

  private static void copy(SendWorkRequest from, SendWorkRequest to) {
    to.id = from.id;
    to.operation = from.operation;
    to.signalled = from.signalled;
    to.inline = from.inline;
    to.localAddress = from.localAddress;
    to.lengthBytes = from.lengthBytes;
    to.lkey = from.lkey;
    to.remoteAddress = from.remoteAddress;
    to.rkey = from.rkey;
    to.immediate = from.immediate;
  }

  @Override
  public int postEmptyReceives(long id, int count) {
    synchronized (fabric) {
      if (state == QueuePairState.RESET) {
        return -Errno.EINVAL;
      }
      if (count > receiveIds.length - (receiveTail - receiveHead)) {
        return -Errno.ENOMEM;
      }
      for (int i = 0; i < count; i++) {
        add(id, null);
      }
      return 0;
    }
  }

  @Override
  public int postReceive(long id, long address, int lengthBytes, int lkey) {
    synchronized (fabric) {
      if (state == QueuePairState.RESET) {
        return -Errno.EINVAL;
      }
      if (receiveTail - receiveHead == receiveIds.length) {
        return -Errno.ENOMEM;
      }
      add(id, new Receive(id, address, lengthBytes, lkey));
      return 0;
    }
  }

  private void add(long id, Receive receive) {
    int at = (int) (receiveTail++ % receiveIds.length);
    receiveIds[at] = id;
    receives[at] = receive;
    if (state == QueuePairState.ERROR) {
      flush();
    }
  }

  /**
   * Completes this queue pair's executed requests, unless acknowledgements are held. Returns their
   * number.
   */
  int acknowledge() {
    int count = 0;
    while (head != next && !fabric.areAcknowledgementsHeld()) {
      SendWorkRequest wr = sends[(int) (head++ % sends.length)];
      count++;
      if (wr.signalled) {
        WorkCompletion wc = sendQueue.push(wr.id, Status.SUCCESS);
        if (wc == null) {
          toError();
          return count;
        }
        wc.kind = kind(wr.operation);
        wc.lengthBytes = wr.operation == Operation.RDMA_READ ? wr.lengthBytes : 0;
      }
    }
    return count;
  }

  private static Kind kind(Operation operation) {
    return switch (operation) {
      case SEND, SEND_WITH_IMMEDIATE -> Kind.SEND;
      case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> Kind.RDMA_WRITE;
      case RDMA_READ -> Kind.RDMA_READ;
    };
  }

  /** Executes the next request at the peer. Returns whether there was progress. */
  boolean step() {
    if (state != QueuePairState.READY_TO_SEND || next == tail) {
      return false;
    }
    SendWorkRequest wr = sends[(int) (next % sends.length)];
    if (!wr.inline
        && !pd.allows(
            wr.lkey,
            wr.localAddress,
            wr.lengthBytes,
            wr.operation == Operation.RDMA_READ ? Access.LOCAL_WRITE : null)) {
      return fail(Status.LOCAL_PROTECTION_ERROR);
    }
    LoopbackQueuePair peer = fabric.find(remoteGid, remoteNumber);
    if (peer == null || !isAnswered()) {
      return waitFor(false, retries, timeoutNs, Status.RETRY_EXCEEDED);
    }
    held = false;
    boolean needsReceive =
        wr.operation != Operation.RDMA_WRITE && wr.operation != Operation.RDMA_READ;
    if (needsReceive && peer.receiveHead == peer.receiveTail) {
      return waitFor(
          true, notReadyRetries, NOT_READY_TIMER_NS, Status.RECEIVER_NOT_READY_RETRY_EXCEEDED);
    }
    waitingSince = 0;
    Status refused = peer.execute(wr, pd);
    if (refused != Status.SUCCESS) {
      /*
       * If this queue pair is its own peer, the refusal has already moved it to ERROR and flushed
       * it.
       */
      return state == QueuePairState.ERROR || fail(refused);
    }
    next++;
    return true;
  }

  private boolean isAnswered() {
    LoopbackQueuePair peer = fabric.find(remoteGid, remoteNumber);
    return peer != null && peer.acceptsFrom(this) && fabric.isPathOpen(localGid, remoteGid);
  }

  /**
   * Returns whether {@code silent} may count a missing acknowledgement as a failure of its path. It
   * may if it has no peer group. It also may if this queue pair has the same peer group and is
   * answered by its peer.
   */
  boolean isReachedByPeerOf(LoopbackQueuePair silent) {
    return silent.peerGroup == ReadyToSendAttributes.NO_PEER_GROUP
        || peerGroup == silent.peerGroup && state == QueuePairState.READY_TO_SEND && isAnswered();
  }

  @Override
  public long peerSilentNs() {
    synchronized (fabric) {
      return held ? Math.max(1, System.nanoTime() - waitingSince) : 0;
    }
  }

  private boolean acceptsFrom(LoopbackQueuePair sender) {
    return (state == QueuePairState.READY_TO_RECEIVE || state == QueuePairState.READY_TO_SEND)
        && remoteNumber == sender.number
        && sender.localGid.equals(remoteGid)
        && expectedPsn == sender.startPsn;
  }

  private boolean waitFor(boolean forReceive, int tries, long eachNs, Status end) {
    long now = System.nanoTime();
    if (waitingSince == 0 || waitingForReceive != forReceive) {
      waitingSince = now;
      waitingForReceive = forReceive;
    }
    boolean endless = forReceive && tries == UNLIMITED_RETRIES;
    boolean over = !endless && now - waitingSince > (tries + 1) * eachNs;
    held = over && !forReceive && !fabric.isWitnessed(this);
    return over && !held && fail(end);
  }

  /*
   * Fails the request at next. Earlier requests, which are executed, succeed; later ones are
   * flushed.
   */
  private boolean fail(Status status) {
    while (head != next) {
      SendWorkRequest wr = sends[(int) (head++ % sends.length)];
      WorkCompletion wc = wr.signalled ? sendQueue.push(wr.id, Status.SUCCESS) : null;
      if (wc != null) {
        wc.kind = kind(wr.operation);
      }
    }
    sendQueue.push(sends[(int) (head++ % sends.length)].id, status);
    toError();
    return true;
  }

  /* Executes a peer's request, as its responder. */
  private Status execute(SendWorkRequest wr, LoopbackProvider.Domain sender) {
    if (isRefusing) {
      return refuse(Status.REMOTE_INVALID_REQUEST_ERROR);
    }
    return switch (wr.operation) {
      case RDMA_READ -> {
        if (!pd.allows(wr.rkey, wr.remoteAddress, wr.lengthBytes, Access.REMOTE_READ)) {
          yield refuse(Status.REMOTE_ACCESS_ERROR);
        }
        pd.read(wr.rkey, wr.remoteAddress, sender, wr.lkey, wr.localAddress, wr.lengthBytes);
        yield Status.SUCCESS;
      }
      case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> {
        if (!pd.allows(wr.rkey, wr.remoteAddress, wr.lengthBytes, Access.REMOTE_WRITE)) {
          yield refuse(Status.REMOTE_ACCESS_ERROR);
        }
        pd.write(wr.rkey, wr.localAddress, wr.remoteAddress, wr.lengthBytes);
        yield wr.operation == Operation.RDMA_WRITE
            ? Status.SUCCESS
            : received(wr, Kind.RECEIVE_RDMA_WITH_IMMEDIATE);
      }
      case SEND, SEND_WITH_IMMEDIATE -> {
        Receive receive = receives[(int) (receiveHead % receives.length)];
        int room = receive == null ? 0 : receive.lengthBytes();
        if (wr.lengthBytes > room) {
          receiveQueue.push(takeReceive(), Status.LOCAL_LENGTH_ERROR);
          yield refuse(Status.REMOTE_INVALID_REQUEST_ERROR);
        }
        if (receive != null
            && !pd.allows(receive.lkey(), receive.address(), wr.lengthBytes, Access.LOCAL_WRITE)) {
          receiveQueue.push(takeReceive(), Status.LOCAL_PROTECTION_ERROR);
          yield refuse(Status.REMOTE_OPERATION_ERROR);
        }
        if (receive != null) {
          Memory.copy(wr.localAddress, receive.address(), wr.lengthBytes);
        }
        yield received(wr, Kind.RECEIVE);
      }
    };
  }

  private Status received(SendWorkRequest wr, Kind kind) {
    WorkCompletion wc = receiveQueue.push(takeReceive(), Status.SUCCESS);
    if (wc == null) {
      return refuse(Status.REMOTE_OPERATION_ERROR);
    }
    wc.kind = kind;
    wc.lengthBytes = wr.lengthBytes;
    wc.hasImmediate = wr.operation != Operation.SEND;
    wc.immediate = wr.immediate;
    return Status.SUCCESS;
  }

  private Status refuse(Status status) {
    toError();
    return status;
  }

  @Override
  void release() {
    synchronized (fabric) {
      fabric.remove(this);
      sendQueue.detach();
      receiveQueue.detach();
    }
  }

  @Override
  public void close() {
    super.close();
    if (localGid != null && fabric.refusesClose(localGid)) {
      throw new VerbsException("destroy_qp", "loopback queue pair " + number(), Errno.EBUSY);
    }
  }
}
