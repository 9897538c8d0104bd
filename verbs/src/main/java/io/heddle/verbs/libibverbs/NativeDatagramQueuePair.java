package io.heddle.verbs.libibverbs;

import io.heddle.jextract.ibv_gid;
import io.heddle.jextract.ibv_qp;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.DatagramWorkRequest;
import io.heddle.verbs.Gid;
import io.heddle.verbs.QueuePairState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Unreliable-datagram queue pair of a libibverbs device. Its monitor orders transitions and close;
 * the posting thread reads the state and owns the request arrays.
 */
final class NativeDatagramQueuePair implements DatagramQueuePair {
  private static final int LIST = 64;

  private final NativeProtectionDomain pd;
  private final OpenPort port;
  private final WorkQueues queues;
  private final long address;
  private final int number;
  private final QueuePairTransitions transitions;
  private final MemorySegment postSend;
  private final MemorySegment postReceive;
  private final Arena arena = Arena.ofShared();
  private final SendRequests sends;
  private final ReceiveRequests receives;
  /* LID of each attached group. */
  private final Map<Gid, Integer> groups = new HashMap<>();

  /* State after the last transition that this side requested. */
  private volatile QueuePairState requestedState = QueuePairState.RESET;
  private boolean closed;

  /** Creates the queue pair; called under the shared lock. */
  NativeDatagramQueuePair(NativeProtectionDomain pd, WorkQueues queues) {
    this.pd = pd;
    this.queues = queues;
    port = pd.port();
    address = queues.create(port, pd.address(), QueuePairTransitions.DATAGRAM).address();
    number = Memory.ALL.get(Memory.NATIVE_INT, address + ibv_qp.qp_num$offset());
    transitions = new QueuePairTransitions(address, port);
    postSend = DataPath.postSendOf(port.address());
    postReceive = DataPath.postReceiveOf(port.address());
    sends = new SendRequests(arena, Math.min(LIST, queues.sendDepth()));
    receives = new ReceiveRequests(arena, 1);
  }

  @Override
  public String toString() {
    return "%s datagram queue pair 0x%x".formatted(port, number);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairState state() {
    return port.lock().shared(this::queryState);
  }

  private synchronized QueuePairState queryState() {
    return closed ? requestedState : transitions.state(this);
  }

  private synchronized void whileOpen(Verb verb, Runnable action) {
    if (closed) {
      throw verb.failure(this + ", which is closed", Errno.EINVAL);
    }
    action.run();
  }

  @Override
  public void start(int queueKey, int partitionIndex) {
    port.lock()
        .shared(() ->
            whileOpen(
                Verb.MODIFY_QP,
                () -> {
                  if (requestedState != QueuePairState.RESET) {
                    throw Verb.MODIFY_QP.failure(
                        "%s in state %s to RTS".formatted(this, requestedState), Errno.EINVAL);
                  }
                  transitions.startDatagrams(this, queueKey, partitionIndex);
                  requestedState = QueuePairState.READY_TO_SEND;
                }));
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
        .shared(() ->
            whileOpen(
                Verb.MODIFY_QP,
                () -> {
                  transitions.moveTo(target, this);
                  requestedState = target;
                }));
  }

  @Override
  public void attachMulticast(Gid group, int lid) {
    port.lock()
        .shared(() ->
            whileOpen(
                Verb.ATTACH_MCAST,
                () -> {
                  membership(Verb.ATTACH_MCAST, group, lid);
                  groups.put(group, lid);
                }));
  }

  @Override
  public void detachMulticast(Gid group) {
    port.lock()
        .shared(() ->
            whileOpen(
                Verb.DETACH_MCAST,
                () -> {
                  membership(Verb.DETACH_MCAST, group, groups.getOrDefault(group, 0));
                  groups.remove(group);
                }));
  }

  private void membership(Verb verb, Gid group, int lid) {
    try (Arena bytes = Arena.ofConfined()) {
      MemorySegment gid = ibv_gid.allocate(bytes);
      MemorySegment.copy(MemorySegment.ofArray(group.toBytes()), 0, gid, 0, Gid.BYTES);
      verb.call("%s, group %s, LID 0x%x".formatted(this, group, lid), address, gid.address(), lid);
    }
  }

  /* Methods of the posting thread. */

  @Override
  public int postSend(DatagramWorkRequest first) {
    QueuePairState now = requestedState;
    if (now != QueuePairState.READY_TO_SEND && now != QueuePairState.ERROR) {
      return -Errno.EINVAL;
    }
    int total = 0;
    DatagramWorkRequest next = first;
    while (next != null) {
      int count = 0;
      for (; next != null && count < sends.capacity(); next = next.next) {
        if (!(next.destination instanceof NativeAddressHandle to) || to.address() == 0) {
          return -Errno.EINVAL;
        }
        sends.set(count++, next, to.address());
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
  public int postReceive(long id, long to, int lengthBytes, int lkey) {
    if (requestedState == QueuePairState.RESET || lengthBytes < HEADER_BYTES) {
      return -Errno.EINVAL;
    }
    return receives.post(postReceive, address, id, to, lengthBytes, lkey);
  }

  @Override
  public void close() {
    port.lock().shared((Runnable) this::destroy);
  }

  /* The library refuses to destroy a queue pair that is still in a group. */
  private synchronized void destroy() {
    if (closed) {
      return;
    }
    closed = true;
    requestedState = QueuePairState.RESET; /* stops posts */
    groups.forEach((group, lid) -> membership(Verb.DETACH_MCAST, group, lid));
    pd.closed(this);
    Verb.DESTROY_QP.call(toString(), address);
    queues.detach();
    arena.close();
  }
}
