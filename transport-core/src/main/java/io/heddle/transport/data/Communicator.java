package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.MemoryTable;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection, driven by NCCL and moved off failed planes by {@code Failover}.
 *
 * <p>NCCL's progress thread calls isend, irecv, iflush and progress; its service thread calls the
 * other methods, concurrently. State is touched with the {@link Baton} unless stated otherwise: by
 * the progress thread, or by the control thread during a failover.
 */
public abstract class Communicator implements AutoCloseable {
  private static final int POLL_BATCH = 16;

  protected final ConnectionParts parts;
  protected final NanoClock clock;
  final MemoryTable memory;
  final RequestLines lines;
  /* Sub-flows: the first one of each plane, then the second one of each plane, and so on. */
  protected final SubFlow[] flows;
  protected final CommFailure failure;
  protected PlaneCounters[] counters;

  private final Runnable sendClosing;
  private final Runnable onClose;
  private final DeviceContext context;
  private final CompletionQueue cq;
  private final Baton baton = new Baton();
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private long polledAtNs;
  private final CommLine line;
  /* Written with the baton. Once set, the connection's native memory may be gone. */
  private boolean closed;

  /**
   * @param sendClosing action that sends Closing to the peer, and releases the connection later
   * @param direction direction of the data, for the log
   */
  protected Communicator(
      ConnectionParts parts,
      Runnable sendClosing,
      PlaneCounters[] counters,
      String direction,
      Log log,
      Runnable onClose) {
    this.parts = parts;
    this.sendClosing = sendClosing;
    this.counters = counters;
    this.onClose = onClose;
    this.clock = parts.device().clock();
    this.context = parts.context();
    this.memory = parts.device().memory();
    this.cq = parts.pairs().completionQueue();
    this.lines = parts.lines();
    this.flows = parts.pairs().subFlows();
    this.failure = new CommFailure(parts, direction, log);
    this.line = new CommLine(address());
    line.attach(context, cq);
  }

  /** Sets the listener that moves this end off failed planes. Called before this end is driven. */
  public final void setPlaneFailureListener(PlaneFailureListener listener) {
    failure.setPlaneFailureListener(listener);
  }

  /**
   * Returns the number of carriers, that is sets of planes that a queue pair sends over; usually
   * each plane is one.
   */
  public final int carriers() {
    return flows.length / parts.pairs().perCarrier();
  }

  /** Returns whether nothing is sent over this carrier now. */
  public final boolean isOutOfUse(int carrier) {
    return parts.weights().isOutOfUse(carrier);
  }

  /**
   * Takes a carrier out of use as if it had failed. The carrier must not have failed before. Any
   * thread.
   */
  public final void failCarrier(int carrier, String cause) {
    failure.reportPlaneFailure(carrier, 0, cause);
  }

  /**
   * Returns the address of the communicator's {@code struct heddle_comm} (native/src/java_calls.h).
   */
  public long address() {
    return parts.memory().commAddress();
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
   * Registers a dma-buf, as for GPU memory. Service thread.
   *
   * @return a handle, never 0, or a negated result code
   */
  public long registerDmaBuf(long address, long length, int type, long offset, int descriptor) {
    return memory.registerDmaBuf(address, length, type, offset, descriptor);
  }

  /** Ends a registration. Any thread. Returns a result code. */
  public int deregisterMemory(long memoryHandle) {
    return memory.deregister(memoryHandle)
        ? TransportResult.SUCCESS
        : TransportResult.INVALID_ARGUMENT;
  }

  /**
   * Drives the device and all requests of this communicator; never blocks.
   *
   * @return a result code
   */
  public int progress() {
    if (!baton.tryTake()) {
      return TransportResult.SUCCESS;
    }
    try {
      return drive();
    } finally {
      baton.release();
    }
  }

  /** Does the work of {@link #progress} for a caller that has the baton. */
  final int drive() {
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    /*
     * The peer's state is read before polling: completions of its earlier work are then already in
     * the queue.
     */
    ConnectionHealth.Peer peer = parts.health().peer();
    boolean there = peer == ConnectionHealth.Peer.ALIVE;
    boolean any = poll();
    if (!there || !any && !wasDevicePolled()) {
      int work = context.progress();
      line.setPolledNs(context.progressedAtNs());
      if (work > 0 || !there) {
        poll();
      }
    }
    afterPoll();
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    String broken = parts.health().deviceFailure();
    if (broken != null) {
      return failure.onDeviceFailure(broken);
    }
    postPending(peer);
    return failure.result();
  }

  /*
   * Returns whether another communicator has polled the device since the last call of this one.
   * That poll has also taken this communicator's completions. So a caller that goes over many
   * communicators polls the device once per round.
   */
  private boolean wasDevicePolled() {
    long newest = context.progressedAtNs();
    boolean wasPolled = newest != line.polledNs();
    line.setPolledNs(newest);
    return wasPolled;
  }

  /** Posts waiting requests, and fails the communicator where it needs a peer that is gone. */
  protected abstract void postPending(ConnectionHealth.Peer peer);

  /** Polls all completions, including those of packets that have just arrived. */
  public final void takeCompletions() {
    context.progress();
    poll();
    afterPoll();
  }

  /* Returns whether there were completions. */
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
      failure.onFailedCompletion(wc, flow);
    }
  }

  /** Handles the success of a request on a sub-flow in use. */
  protected abstract void succeeded(WorkCompletion wc, SubFlow flow);

  /** Returns whether the failure of a request matters, given the peer's present state. */
  protected abstract boolean isFailureRelevant();

  /** Handles the end of a poll: the completion queue is empty for now. */
  protected abstract void completionsTaken();

  /** Returns the time at which the present completions were polled. */
  protected final long polledAtNs() {
    return polledAtNs;
  }

  public final long nowNs() {
    return clock.nanoTime();
  }

  /** Returns the duration of the send that completed last, in ns. */
  protected final long tookNs(SubFlow flow) {
    return flow.recordDuration(polledAtNs);
  }

  /* Methods for failover. The caller has the baton, except for baton() and isSender(). */

  public final Baton baton() {
    return baton;
  }

  public abstract boolean isSender();

  /** Returns whether this end has failed, so that none of its requests will complete. */
  public final boolean hasFailed() {
    return failure.result() != TransportResult.SUCCESS;
  }

  /**
   * Returns the communicator's array of sub-flows itself, not a copy; it has one sub-flow per queue
   * pair.
   */
  public final SubFlow[] flows() {
    return flows;
  }

  /** Replaces the sub-flow with the same index. */
  public final void replace(SubFlow fresh) {
    flows[fresh.index] = fresh;
  }

  /**
   * Handles a plane's return, perhaps at another address.
   *
   * @throws io.heddle.verbs.VerbsException when the device refuses the new queue pairs
   */
  public void planeReturned(LocalPlane plane) {}

  /** Returns this end's Fenced message. */
  public abstract Fenced fenced(String plane, int epoch);

  /**
   * Settles the chunks in flight on a plane that is fenced at both ends, and posts the lost ones
   * again.
   *
   * @return contradiction in the peer's message, in which case nothing was changed; null where
   *     there is none
   */
  public abstract @Nullable String settle(int plane, Fenced theirs);

  /** Returns how often chunks or clear-to-send entries had to be posted again since the start. */
  public abstract long replays();

  /** Returns whether a request isn't finished. */
  public boolean hasPending() {
    return lines.isAnyPending();
  }

  /** Returns this end's name for the log. */
  final String name() {
    return failure.direction() + " connection with " + parts.peer();
  }

  /**
   * Drives this communicator. Returns whether it must be driven again: a request is pending, the
   * peer wasn't ready for the newest one, or another thread drives this. Any thread, also while or
   * after another thread closes this.
   */
  final boolean isUnfinished() {
    if (!baton.tryTake()) {
      return true;
    }
    try {
      return !closed
          && drive() == TransportResult.SUCCESS
          && (hasPending() || isWaitingForPeer() && parts.health().isPeerAlive());
    } finally {
      baton.release();
    }
  }

  /** Returns whether the newest request was refused because the peer wasn't ready for it. */
  protected abstract boolean isWaitingForPeer();

  /** Fails the communicator, with this result for NCCL. */
  public final void fail(int result, String reason) {
    failure.latch(result, reason);
  }

  /**
   * Closes this end; requests in flight never complete. Once this returns, the peer can't write to
   * this end's memory any more: docs/decisions/connections.md. Service thread; not while another
   * thread drives this.
   */
  @Override
  public void close() {
    /* The control thread may hold the baton at this moment, to answer a fence of the peer. */
    baton.spinUntilTaken();
    try {
      closed = true;
      counters = parts.detachCounters().get();
    } finally {
      baton.release();
    }
    try {
      if (!isSender()) {
        parts.health().leave();
        parts.pairs().refuseRequests();
      }
    } finally {
      onClose.run();
      sendClosing.run();
    }
  }
}
