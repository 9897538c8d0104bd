package io.heddle.verbs.libibverbs;

import io.heddle.jextract.ibv_qp;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Reliable-connection queue pair of a libibverbs device. Its monitor orders transitions and close;
 * the posting thread reads the state and owns the request arrays.
 */
final class NativeQueuePair implements QueuePair {
  private static final int LIST = 64;

  private final NativeProtectionDomain pd;
  private final OpenPort port;
  private final WorkQueues queues;
  private final long address;
  private final int number;
  private final int inlineBytes;
  private final QueuePairTransitions transitions;
  private final MemorySegment postSend;
  private final MemorySegment postReceive;
  private final Arena arena = Arena.ofShared();
  private final SendRequests sends;
  private final ReceiveRequests receives;

  /*
   * State after the last transition that this side requested. The device may be in a later state,
   * which state() queries.
   */
  private volatile QueuePairState requestedState = QueuePairState.RESET;
  private GidTable.@Nullable Entry local;
  private boolean closed;

  /** Creates the queue pair; called under the shared lock. */
  NativeQueuePair(NativeProtectionDomain pd, WorkQueues queues) {
    this.pd = pd;
    this.queues = queues;
    port = pd.port();
    WorkQueues.Created created = queues.create(port, pd.address(), QueuePairTransitions.RELIABLE);
    address = created.address();
    inlineBytes = created.inlineBytes();
    number = Memory.ALL.get(Memory.NATIVE_INT, address + ibv_qp.qp_num$offset());
    transitions = new QueuePairTransitions(address, port);
    postSend = DataPath.postSendOf(port.address());
    postReceive = DataPath.postReceiveOf(port.address());
    sends = new SendRequests(arena, Math.min(LIST, queues.sendDepth()));
    receives = new ReceiveRequests(arena, Math.min(LIST, queues.receiveDepth()));
  }

  @Override
  public String toString() {
    return "%s queue pair 0x%x".formatted(port, number);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public int inlineBytes() {
    return inlineBytes;
  }

  @Override
  public QueuePairState state() {
    return port.lock().shared(this::queryState);
  }

  private synchronized QueuePairState queryState() {
    return closed ? requestedState : transitions.state(this);
  }

  /** Returns the LID of an InfiniBand port, for the peer's address vector; empty on Ethernet. */
  @Override
  public byte[] endpointParameters() {
    int lid = port.lid();
    return lid == 0 ? new byte[0] : new byte[] {(byte) (lid >>> 8), (byte) lid};
  }

  private void move(QueuePairState needed, QueuePairState target, Runnable action) {
    port.lock()
        .shared(() -> {
          synchronized (this) {
            if (closed || requestedState != needed) {
              throw Verb.MODIFY_QP.failure(
                  "%s in state %s to %s"
                      .formatted(this, closed ? "closed" : requestedState, target),
                  Errno.EINVAL);
            }
            action.run();
            requestedState = target;
          }
        });
  }

  @Override
  public void initialise(int gidIndex) {
    GidTable.Entry entry = port.gidAt(gidIndex, this + " to INIT");
    move(
        QueuePairState.RESET,
        QueuePairState.INIT,
        () -> {
          transitions.initialise(this);
          local = entry;
        });
  }

  @Override
  public void readyToReceive(ReadyToReceiveAttributes attributes) {
    move(
        QueuePairState.INIT,
        QueuePairState.READY_TO_RECEIVE,
        () -> {
          GidTable.Entry mine = java.util.Objects.requireNonNull(local);
          int index = port.indexOf(mine, this + " to RTR");
          transitions.readyToReceive(
              "%s to RTR, from %s (GID index %s) to %s QP 0x%x"
                  .formatted(
                      this,
                      mine.gid(),
                      index,
                      attributes.remoteGid(),
                      attributes.remoteQueuePairNumber()),
              index,
              attributes);
        });
  }

  @Override
  public void readyToSend(ReadyToSendAttributes attributes) {
    move(
        QueuePairState.READY_TO_RECEIVE,
        QueuePairState.READY_TO_SEND,
        () -> transitions.readyToSend(this, attributes));
  }

  @Override
  public void refuseRequests() {
    port.lock()
        .shared(() -> {
          synchronized (this) {
            if (!closed
                && (requestedState == QueuePairState.READY_TO_RECEIVE
                    || requestedState == QueuePairState.READY_TO_SEND)) {
              refuse();
            }
          }
        });
  }

  /*
   * Removes the peer's access rights. Moves the queue pair to ERROR instead if it isn't in RTS, or
   * the device can't change access rights.
   */
  private void refuse() {
    if (requestedState == QueuePairState.READY_TO_SEND) {
      try {
        transitions.refuseRequests(this);
        return;
      } catch (VerbsException refused) {
        port.log().trace("%s; it is moved to ERROR instead", String.valueOf(refused.getMessage()));
      }
    }
    transitions.moveTo(QueuePairState.ERROR, this);
    requestedState = QueuePairState.ERROR;
  }

  @Override
  public void toError() {
    moveFromAny(QueuePairState.ERROR);
  }

  @Override
  public void reset() {
    moveFromAny(QueuePairState.RESET);
  }

  private void moveFromAny(QueuePairState target) {
    port.lock()
        .shared(() -> {
          synchronized (this) {
            if (!closed) {
              transitions.moveTo(target, this);
              requestedState = target;
            }
          }
        });
  }

  /* Methods of the posting thread. */

  @Override
  public int postSend(SendWorkRequest first) {
    QueuePairState now = requestedState;
    if (now != QueuePairState.READY_TO_SEND && now != QueuePairState.ERROR) {
      return -Errno.EINVAL;
    }
    int total = 0;
    SendWorkRequest next = first;
    while (next != null) {
      int count = 0;
      for (; next != null && count < sends.capacity(); next = next.next) {
        sends.set(count++, next);
      }
      int taken = sends.post(postSend, address, count);
      if (taken < count) {
        return taken < 0 && total == 0 ? taken : total + Math.max(taken, 0);
      }
      total += taken;
    }
    return total;
  }

  @Override
  public int postEmptyReceives(long id, int count) {
    if (requestedState == QueuePairState.RESET) {
      return -Errno.EINVAL;
    }
    if (count > queues.receiveDepth()) {
      return -Errno.ENOMEM;
    }
    return receives.postEmpty(postReceive, address, id, count);
  }

  @Override
  public int postReceive(long id, long from, int lengthBytes, int lkey) {
    if (requestedState == QueuePairState.RESET || lengthBytes < 0) {
      return -Errno.EINVAL;
    }
    return receives.post(postReceive, address, id, from, lengthBytes, lkey);
  }

  @Override
  public void close() {
    port.lock().shared((Runnable) this::destroy);
  }

  private synchronized void destroy() {
    if (closed) {
      return;
    }
    closed = true;
    requestedState = QueuePairState.RESET; /* stops posts */
    pd.closed(this);
    Verb.DESTROY_QP.call(toString(), address);
    queues.detach();
    arena.close();
  }
}
