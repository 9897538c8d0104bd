package io.heddle.transport.onesided;

import io.heddle.platform.Log;
import io.heddle.reorder.ReorderWindow;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.ConnectionParts;
import io.heddle.transport.data.Immediate;
import io.heddle.transport.data.ReturnFlow;
import io.heddle.transport.data.SubFlow;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Target's end of a peer's one-sided operations: counts arrivals, applies signals in the order of
 * docs/decisions/one-sided.md, and reports the number of finished operations to the initiator.
 */
public final class OneSidedTarget extends Communicator {
  private static final int SLOTS = OperationRecord.SLOTS;

  /* Finished operations per credit message. */
  private static final long CREDIT_EVERY = SLOTS / 4;

  private static final int NOWHERE = -1;
  private static final long NOTHING = -1;

  private static final byte INCOMPLETE = 0;
  /* All chunks have arrived, and the operation's signal waits for earlier operations. */
  private static final byte COMPLETE = 1;
  /* The operation's signal is being added to its word. */
  private static final byte ADDING = 2;
  /*
   * The operation's signal is applied. The operation isn't finished until the earlier operations of
   * its context are finished.
   */
  private static final byte SIGNALLED = 3;
  private static final byte FINISHED = 4;

  private final ReorderWindow window = new ReorderWindow(SLOTS);
  private final ContextOrder order = new ContextOrder();
  private final ReturnFlow returnFlow;
  private final byte[] state = new byte[SLOTS];
  private final DeviceSignalWords.AdditionListener additionListener = this::added;

  /* Set with the baton, once the group has accepted this peer. */
  private @Nullable Directory directory;

  /* Number of finished operations that was last written to the peer's memory. */
  private long creditSent = NOTHING;
  /* Plane over which creditSent was written; NOWHERE once that write is acknowledged. */
  private int creditPlane = NOWHERE;
  private long repeatedCount;

  public OneSidedTarget(
      ConnectionParts parts,
      Runnable sendClosing,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    super(parts, sendClosing, counters, "one-sided receiving", log, onClose);
    returnFlow = new ReturnFlow(parts, flows);
    for (int slot = 0; slot < SLOTS; slot++) {
      window.open(1);
    }
  }

  /** Makes the group's memory accessible to the peer, which waits for this. Any thread. */
  public void openMemory(Directory served) {
    baton().spinUntilTaken();
    try {
      directory = served;
    } finally {
      baton().release();
    }
  }

  @Override
  protected void postPending(ConnectionHealth.Peer peer) {
    if (peer == ConnectionHealth.Peer.LOST || peer == ConnectionHealth.Peer.FAILED) {
      /*
       * This end fails, since its caller may wait for a signal that the peer won't send any more.
       */
      failure.onPeerGone();
      return;
    }
    long finished = window.oldestGroup();
    Directory served = directory;
    if (served != null
        && creditPlane == NOWHERE
        && (creditSent == NOTHING || finished - creditSent >= CREDIT_EVERY)) {
      sendCredit(finished, served);
    }
  }

  private void sendCredit(long credit, Directory served) {
    SubFlow flow = returnFlow.withRoom();
    if (flow == null) {
      return;
    }
    long line = parts.memory().ringAddress();
    PeerLine.write(line, credit, served.address(), served.key());
    SendWorkRequest wr = flow.add();
    wr.id = flow.id(0, 0, 0);
    wr.operation = SendWorkRequest.Operation.RDMA_WRITE;
    wr.localAddress = line;
    wr.lengthBytes = PeerLine.BYTES;
    wr.lkey = parts.memory().ringLocalKey();
    wr.inline = wr.lengthBytes <= flow.inlineBytes;
    wr.remoteAddress = parts.peersRing().address();
    wr.rkey = parts.peersRing().key();
    creditSent = credit;
    creditPlane = flow.plane;
    int code = flow.post(clock.nanoTime());
    if (code != 0) {
      failure.onRefusedPost(flow, code);
    }
  }

  @Override
  protected boolean isFailureRelevant() {
    return parts.health().peer() != ConnectionHealth.Peer.CLOSED;
  }

  @Override
  protected void succeeded(WorkCompletion wc, SubFlow flow) {
    if (wc.kind == WorkCompletion.Kind.RECEIVE_RDMA_WITH_IMMEDIATE) {
      arrived(flow, wc);
    } else if (wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(
          TransportResult.REMOTE_ERROR, "the initiator sent without immediate over " + flow.pair);
    } else {
      counters[flow.plane].acknowledged(0, tookNs(flow));
      creditPlane = NOWHERE;
    }
  }

  private void arrived(SubFlow flow, WorkCompletion wc) {
    if (wc.immediate != Immediate.PROBE) {
      String wrong = record(flow, wc.immediate, wc.lengthBytes);
      if (wrong != null) {
        failure.latch(
            TransportResult.REMOTE_ERROR,
            "%s: immediate %#x: %s".formatted(flow.pair, wc.immediate, wrong));
        return;
      }
    }
    returnFlow.dataArrivedOn(flow);
    int code = flow.receiveConsumed();
    if (code != 0) {
      failure.onRefusedPost(flow, code);
    }
  }

  private @Nullable String record(SubFlow flow, int immediate, int lengthBytes) {
    int slot = Immediate.slot(immediate);
    int chunk = Immediate.chunk(immediate);
    /*
     * The first chunk's immediate arrives with the record, which contains the chunk's length; the
     * chunk's bytes came in an earlier write.
     */
    long bytes = chunk == 0 ? OperationRecord.firstChunkBytes(record(slot)) : lengthBytes;
    if (bytes < 0 || bytes > Integer.MAX_VALUE) {
      return "its first chunk has %s bytes".formatted(bytes);
    }
    int result =
        Immediate.flags(immediate) != 0 || Immediate.receive(immediate) != 0
            ? ReorderWindow.CONTRADICTION
            : window.record(
                slot,
                Immediate.generation(immediate),
                0,
                chunk,
                Immediate.chunks(immediate),
                (int) bytes);
    if (result == ReorderWindow.CONTRADICTION) {
      return "it contradicts what was received";
    }
    if (result == ReorderWindow.DUPLICATE) {
      counters[flow.plane].duplicate();
      return null;
    }
    counters[flow.plane].chunk((int) bytes);
    counters[flow.plane].reordered(window.aheadOfGap(slot, 0, chunk));
    return result == ReorderWindow.GROUP_FULL ? onComplete(slot) : null;
  }

  /* Handles an operation whose chunks have all arrived. Returns the error, if any. */
  private @Nullable String onComplete(int slot) {
    long record = record(slot);
    long number = numberOf(slot);
    int context = OperationRecord.context(record);
    int signal = OperationRecord.signalCode(record);
    if (OperationRecord.number(record) != number
        || context < 0
        || context >= ContextOrder.MOST_CONTEXTS
        || OperationRecord.numberInContext(record) < order.next(context)
        || signal < OneSidedOperation.Signal.NONE.code
        || signal > OneSidedOperation.Signal.STRONG.code) {
      return "the record of operation %s has number %s, context %s, signal %s"
          .formatted(number, OperationRecord.number(record), context, signal);
    }
    Directory served = directory;
    long bytesOf = OperationRecord.dataRegistration(record);
    if (served != null && bytesOf != OperationRecord.NONE) {
      served.arrived(bytesOf);
    }
    order.addWaiting(context, 1);
    state[slot] = signal == OneSidedOperation.Signal.NONE.code ? SIGNALLED : COMPLETE;
    if (signal == OneSidedOperation.Signal.WEAK.code) {
      apply(slot);
    }
    return state[slot] == INCOMPLETE ? describeMissingWord(record) : applyInOrder(context, slot);
  }

  /*
   * Finishes operations of a context in order, as long as the next one is complete. Usually the
   * next one is the operation that has just become complete, in the slot newest. Returns the error,
   * if any.
   */
  private @Nullable String applyInOrder(int context, int newest) {
    int first = isNextInContext(newest, context) ? newest : nextInContext(context);
    for (int slot = first; slot >= 0; slot = nextInContext(context)) {
      if (state[slot] == COMPLETE) {
        apply(slot);
      }
      if (state[slot] == INCOMPLETE) {
        return describeMissingWord(record(slot));
      }
      if (state[slot] == ADDING) {
        break;
      }
      order.takeNext(context);
      order.addWaiting(context, -1);
      state[slot] = FINISHED;
    }
    release();
    return null;
  }

  /* Returns the slot of the context's next operation if all its chunks have arrived; else −1. */
  private int nextInContext(int context) {
    if (order.waiting(context) == 0) {
      return -1;
    }
    for (long number = window.oldestGroup(); number != window.nextGroup(); number++) {
      int slot = OperationRecord.slot(number);
      if (isNextInContext(slot, context)) {
        return slot;
      }
    }
    return -1;
  }

  private boolean isNextInContext(int slot, int context) {
    return state[slot] != INCOMPLETE
        && state[slot] != FINISHED
        && OperationRecord.context(record(slot)) == context
        && OperationRecord.numberInContext(record(slot)) == order.next(context);
  }

  /*
   * Frees the slots of finished operations, oldest first. The initiator writes the next record into
   * a slot only after it has got the credit for the freed slot.
   */
  private void release() {
    for (int slot = window.slotOf(window.oldestGroup()); state[slot] == FINISHED; ) {
      state[slot] = INCOMPLETE;
      window.releaseOldest();
      window.open(1);
      counters[0].message();
      counters[0].put();
      slot = window.slotOf(window.oldestGroup());
    }
  }

  private long record(int slot) {
    return parts.memory().ringAddress() + OperationRecord.offset(slot);
  }

  private long numberOf(int slot) {
    long oldest = window.oldestGroup();
    return oldest + (slot - oldest & SLOTS - 1);
  }

  /*
   * Applies the signal of the operation in this slot and sets the slot's state; INCOMPLETE where
   * the signal's word doesn't exist.
   */
  private void apply(int slot) {
    counters[0].signal();
    Directory served = directory;
    long record = record(slot);
    /* After the group's close no caller reads the signal words, so nothing is added. */
    Directory.Addition addition =
        served == null
            ? Directory.Addition.DONE
            : served.add(
                OperationRecord.signalRegistration(record),
                OperationRecord.signalOffset(record),
                OperationRecord.addend(record),
                additionListener,
                slot);
    state[slot] =
        switch (addition) {
          case DONE -> SIGNALLED;
          case LATER -> ADDING;
          case NOWHERE -> INCOMPLETE;
        };
  }

  /*
   * Handles the completion of a deferred addition. Returns false while another thread holds the
   * baton.
   */
  private boolean added(int slot) {
    if (!baton().tryTake()) {
      return false;
    }
    try {
      if (directory != null && failure.result() == TransportResult.SUCCESS) {
        state[slot] = SIGNALLED;
        String wrong = applyInOrder(OperationRecord.context(record(slot)), slot);
        if (wrong != null) {
          failure.latch(TransportResult.REMOTE_ERROR, wrong);
        }
      }
      return true;
    } finally {
      baton().release();
    }
  }

  private static String describeMissingWord(long record) {
    return "its signal names offset %s of registration %s, where there is no word"
        .formatted(
            OperationRecord.signalOffset(record), OperationRecord.signalRegistration(record));
  }

  @Override
  protected void completionsTaken() {
    // Nothing to do: signals were applied as their chunks came.
  }

  @Override
  protected boolean isWaitingForPeer() {
    return false;
  }

  @Override
  public boolean isSender() {
    return false;
  }

  @Override
  public Fenced fenced(String plane, int epoch) {
    List<Arrival> arrivals = new ArrayList<>();
    for (long number = window.oldestGroup(); number != window.nextGroup(); number++) {
      int slot = window.slotOf(number);
      long chunks = window.arrivedChunks(slot, 0);
      if (chunks != 0) {
        arrivals.add(
            new Arrival(slot, window.generation(slot), 0, window.chunkCount(slot, 0), chunks));
      }
    }
    return new Fenced(plane, epoch, window.oldestGroup(), window.nextGroup(), arrivals);
  }

  @Override
  public @Nullable String settle(int plane, Fenced theirs) {
    if (theirs.oldest() != 0 || theirs.next() != 0 || !theirs.arrivals().isEmpty()) {
      return "an initiator has no window";
    }
    if (creditPlane == plane) {
      creditPlane = NOWHERE;
      creditSent = NOTHING;
      repeatedCount++;
    }
    return null;
  }

  @Override
  public long replays() {
    return repeatedCount;
  }

  @Override
  public void planeReturned(LocalPlane plane) {
    Directory served = directory;
    if (served != null) {
      served.planeReturned(plane);
    }
  }

  @Override
  public void close() {
    baton().spinUntilTaken();
    directory = null;
    baton().release();
    super.close();
  }
}
