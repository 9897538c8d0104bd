package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.MemoryTable;
import io.heddle.transport.device.TransportResult;
import io.heddle.transport.failover.Failover;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection as NCCL drives it, and as {@link Failover} takes it off a plane.
 *
 * <p>NCCL's progress thread calls isend, irecv, iflush and progress, its service thread the others,
 * at the same time. Everything that isn't said to be another thread's is touched with the {@link
 * Baton}: by the progress thread, or by the control thread while it moves the path.
 */
public abstract sealed class Communicator implements AutoCloseable
    permits SendComm, RecvComm, PeerPuts, PeerSignals {
  private static final int POLL_BATCH = 16;

  final ConnectionParts path;
  final NanoClock clock;
  final MemoryTable memory;
  final RequestLines lines;
  /* One of each plane, then the second one of each plane, and so on. */
  final SubFlow[] flows;
  final CommFailure failure;
  PlaneCounters[] counters;

  private final Runnable goodbye;
  private final Runnable onClose;
  private final DeviceContext context;
  private final CompletionQueue cq;
  private final Baton baton = new Baton();
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private long polledAtNs;
  private final CommLine line;
  /* With the baton. Native memory of the connection may be gone from then on. */
  private boolean closed;

  /**
   * @param goodbye says it to the other end, and lets go of the connection in time
   * @param direction for the log
   */
  Communicator(
      ConnectionParts path,
      Runnable goodbye,
      PlaneCounters[] counters,
      String direction,
      Log log,
      Runnable onClose) {
    this.path = path;
    this.goodbye = goodbye;
    this.counters = counters;
    this.onClose = onClose;
    this.clock = path.device().clock();
    this.context = path.context();
    this.memory = path.device().memory();
    this.cq = path.pairs().completionQueue();
    this.lines = path.lines();
    this.flows = path.pairs().subFlows();
    this.failure = new CommFailure(path, direction, log);
    this.line = new CommLine(address());
    line.attach(context, cq);
  }

  /** Who takes this end off planes that fail. Before it is driven. */
  public final void setPlaneFailureListener(PlaneFailureListener ear) {
    failure.setPlaneFailureListener(ear);
  }

  /** How many carriers there are, each a plane as a rule. */
  public final int carriers() {
    return flows.length / path.pairs().perCarrier();
  }

  /** Whether nothing is sent over this carrier now. */
  public final boolean isOutOfUse(int carrier) {
    return path.weights().isOutOfUse(carrier);
  }

  /** Leaves a carrier that never fell before, as if it had failed. Any thread. */
  public final void leave(int carrier, String cause) {
    failure.plane(carrier, 0, cause);
  }

  /** Address of the communicator's {@code struct heddle_comm} (native/src/java_calls.h). */
  public long address() {
    return path.memory().commAddress();
  }

  /**
   * Registers memory; {@code type} is 1 for host memory. Any thread.
   *
   * @return a handle, never 0, or a negated result code
   */
  public long registerMemory(long address, long length, int type) {
    return memory.register(address, length, type);
  }

  /**
   * Registers memory that a dma-buf stands for, as a GPU's does. Service thread.
   *
   * @return a handle, never 0, or a negated result code
   */
  public long registerDmaBuf(long address, long length, int type, long offset, int descriptor) {
    return memory.registerDmaBuf(address, length, type, offset, descriptor);
  }

  /** Any thread. Returns a result code. */
  public int deregisterMemory(long memoryHandle) {
    return memory.deregister(memoryHandle)
        ? TransportResult.SUCCESS
        : TransportResult.INVALID_ARGUMENT;
  }

  /**
   * Moves the device and all requests of this communicator on; never blocks.
   *
   * @return a result code
   */
  public int progress() {
    if (!baton.take()) {
      return TransportResult.SUCCESS;
    }
    try {
      return drive();
    } finally {
      baton.give();
    }
  }

  /** As {@link #progress}, with the baton. */
  final int drive() {
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    /* Read before polling: what the peer did before it went is then already in the queue. */
    ConnectionHealth.Peer peer = path.health().peer();
    boolean there = peer == ConnectionHealth.Peer.ALIVE;
    boolean any = poll();
    if (!there || !any && !wasDevicePolled()) {
      int work = context.progress();
      line.setLookedNs(context.progressedAtNs());
      if (work > 0 || !there) {
        poll();
      }
    }
    afterPoll();
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    String broken = path.health().deviceFailure();
    if (broken != null) {
      return failure.device(broken);
    }
    postPending(peer);
    return failure.result();
  }

  /*
   * Whether another communicator has looked at the device since this one asked last: what that has brought was just taken, so
   * a caller that goes over many of them looks once each time, not once for each.
   */
  private boolean wasDevicePolled() {
    long newest = context.progressedAtNs();
    boolean looked = newest != line.lookedNs();
    line.setLookedNs(newest);
    return looked;
  }

  /** Posts what waits, and judges whether a peer that is gone will be missed. */
  abstract void postPending(ConnectionHealth.Peer peer);

  /** Takes what completions there are, those of packets that have come included. */
  public final void takeCompletions() {
    context.progress();
    poll();
    afterPoll();
  }

  /* Whether there were any. */
  private boolean poll() {
    boolean any = false;
    int count;
    do {
      count = cq.poll(completions);
      if (count > 0) {
        any = true;
        polledAtNs = clock.nanoTime();
      }
      for (int i = 0; i < count; i++) {
        completed(completions[i]);
      }
    } while (count == POLL_BATCH);
    if (count < 0) {
      failure.latch(TransportResult.INTERNAL_ERROR, "its completion queue overran");
    }
    return any;
  }

  private void afterPoll() {
    if (failure.result() == TransportResult.SUCCESS) {
      completionsTaken();
    }
  }

  private void completed(WorkCompletion wc) {
    long id = wc.workRequestId;
    SubFlow flow = flows[SubFlow.flowOf(id)];
    if (flow.isStale(id)) {
      return;
    }
    flow.completed(id);
    if (failure.result() != TransportResult.SUCCESS) {
      return;
    }
    if (wc.status == WorkCompletion.Status.SUCCESS) {
      succeeded(wc, flow);
    } else if (isFailureRelevant()) {
      failure.completion(wc, flow);
    }
  }

  /** A request of a sub-flow that is in use is done. */
  abstract void succeeded(WorkCompletion wc, SubFlow flow);

  /** Whether a request that failed was still wanted. */
  abstract boolean isFailureRelevant();

  /** The queue is empty for now. */
  abstract void completionsTaken();

  /** When the completions that are being dealt with were found. */
  final long polledAtNs() {
    return polledAtNs;
  }

  public final long nowNs() {
    return clock.nanoTime();
  }

  /** How long the send that completed last took, in ns. */
  final long tookNs(SubFlow flow) {
    return flow.tookNs(polledAtNs);
  }

  /* For failover; with the baton, but for the first two. */

  public final Baton baton() {
    return baton;
  }

  public abstract boolean isSender();

  /** Whether this end has failed, and nothing of it will complete any more. */
  public final boolean hasFailed() {
    return failure.result() != TransportResult.SUCCESS;
  }

  /** One per queue pair; the array is the communicator's own. */
  public final SubFlow[] flows() {
    return flows;
  }

  /** Begins to use this sub-flow instead of the one with its index. */
  public final void replace(SubFlow fresh) {
    flows[fresh.index] = fresh;
  }

  /**
   * A plane is back, perhaps at another address.
   *
   * @throws io.heddle.verbs.VerbsException when the device refuses what is made there
   */
  public void planeReturned(LocalPlane plane) {}

  /** What this end has to say of its fence. */
  public abstract Fenced fenced(String plane, int epoch);

  /**
   * Settles what was unknown about a plane that is fenced at both ends, and posts what is to be
   * posted again.
   *
   * @return why what the other end says can't be, and then nothing was changed; null where it can
   */
  public abstract @Nullable String settle(int plane, Fenced theirs);

  /** How often something had to be posted again since the beginning. */
  public abstract long replays();

  /** Whether some request isn't finished. */
  public boolean hasPending() {
    return lines.anyPending();
  }

  /** For the log. */
  final String name() {
    return failure.direction() + " connection with " + path.peer();
  }

  /**
   * Moves everything on, and says whether something is left to be done: a request, or one that was
   * refused for now. Any thread, also while or after another one closes this.
   */
  final boolean isUnfinished() {
    if (!baton.take()) {
      return true;
    }
    try {
      return !closed
          && drive() == TransportResult.SUCCESS
          && (hasPending() || isWaitingForPeer() && path.health().isPeerAlive());
    } finally {
      baton.give();
    }
  }

  /** Whether the newest request was refused since the peer isn't ready for it. */
  abstract boolean isWaitingForPeer();

  /** Ends the communicator, with this result for NCCL. */
  public final void fail(int result, String story) {
    failure.latch(result, story);
  }

  /**
   * May come with requests in flight: they never complete. When it returns, the peer's writes have
   * no place here any more: docs/decisions/connections.md. Service thread; not while another thread
   * drives this.
   */
  @Override
  public void close() {
    /* The control thread may still have to settle what the other end asks about. */
    while (!baton.take()) {
      Thread.onSpinWait();
    }
    try {
      closed = true;
      counters = path.detachCounters().get();
    } finally {
      baton.give();
    }
    try {
      if (!isSender()) {
        path.health().leave();
        path.pairs().refuseRequests();
      }
    } finally {
      onClose.run();
      goodbye.run();
    }
  }
}
