package io.heddle.transport.onesided;

import io.heddle.platform.Log;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.data.ConnectionParts;
import io.heddle.transport.data.Immediate;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.data.SprayingCommunicator;
import io.heddle.transport.data.SubFlow;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Initiator's end of one-sided operations on a peer: docs/decisions/one-sided.md.
 *
 * <p>Operations begin in the order of their submission, while the target's window has room. A put's
 * first chunk is an RDMA WRITE, followed by a WRITE WITH IMMEDIATE of the {@link OperationRecord};
 * its other chunks are WRITEs WITH IMMEDIATE. A get's chunks are RDMA READs.
 */
final class OneSidedInitiator extends SprayingCommunicator {
  /** Result of {@link #submit}: another thread holds the baton, and nothing was done. */
  public static final int BUSY = -1;

  private static final int SLOTS = OperationRecord.SLOTS;

  /* Numbers of the two tables of transfers. */
  private static final int PUTS = 0;
  private static final int GETS = 1;

  /*
   * Value of the length field in the id of a request that completes no chunk: a directory read, or
   * the data before a record.
   */
  private static final int NO_CHUNK = Integer.MAX_VALUE;

  private final Log log;
  /*
   * Request lines in which operations are completed. Null once this end is closed: no caller waits
   * any more, and the lines may be unmapped.
   */
  private @Nullable RequestLines answers;
  private final RemoteDirectory directory;
  private final ContextOrder order = new ContextOrder();

  private final ArrayDeque<OneSidedOperation> waiting = new ArrayDeque<>();
  /* Operations in flight, by place: puts first, then gets. */
  private final @Nullable OneSidedOperation[] operations = new OneSidedOperation[2 * SLOTS];
  private int inFlight;
  private long nextNumber;
  private long nextGet;
  private long creditSeen;

  /**
   * @param answers the group's request records, which native code reads: an operation's result is
   *     written to its record
   */
  public OneSidedInitiator(
      ConnectionParts parts,
      Runnable sendClosing,
      SprayPolicy policy,
      RequestLines answers,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    super(parts, sendClosing, policy, false, 2, 2, counters, "one-sided sending", log, onClose);
    this.log = log;
    this.answers = answers;
    directory = new RemoteDirectory(parts.memory().ringAddress(), parts.memory().ringLocalKey());
    makeRoom(operations.length);
  }

  /**
   * Submits an operation, which begins after the earlier ones. Never waits.
   *
   * @return a result code, or {@link #BUSY}
   */
  public int submit(OneSidedOperation operation) {
    if (!baton().tryTake()) {
      return BUSY;
    }
    try {
      if (failure.result() == TransportResult.SUCCESS) {
        waiting.add(operation);
        if (parts.health().isPeerAlive()) {
          advance();
        }
      }
      return failure.result();
    } finally {
      baton().release();
    }
  }

  private void advance() {
    long credit = PeerLine.credit(parts.memory().ringAddress());
    if (credit > nextNumber) {
      failure.latch(
          TransportResult.REMOTE_ERROR,
          "the peer has finished %s operations, of %s".formatted(credit, nextNumber));
      return;
    }
    creditSeen = Math.max(creditSeen, credit);
    boolean begun = true;
    while (begun && !waiting.isEmpty()) {
      begun = isResolved(waiting.element()) && begin(waiting.element());
      if (begun) {
        waiting.remove();
      }
    }
    post();
  }

  private boolean isResolved(OneSidedOperation operation) {
    boolean memory = operation.lengthBytes == 0 || isKnown(operation.registration);
    boolean word =
        operation.signal == OneSidedOperation.Signal.NONE || isKnown(operation.signalRegistration);
    return memory && word;
  }

  private boolean isKnown(int registration) {
    if (directory.isKnown(registration)) {
      return true;
    }
    long nowNs = clock.nanoTime();
    if (directory.isNewlyOverdue(registration, nowNs)) {
      log.warn(
          "%s hasn't made registration %d within %d s, and operations on it wait; every rank has to"
              + " register the same memory in the same order",
          parts.peer(), registration, RemoteDirectory.OVERDUE_NS / 1_000_000_000);
    }
    if (directory.canRead(registration, nowNs)) {
      SubFlow flow = flowWithRoom();
      if (flow != null) {
        SendWorkRequest wr = flow.add();
        wr.id = flow.id(directory.prepareRead(registration, wr), 0, NO_CHUNK);
        addToPost(flow);
      }
    }
    return false;
  }

  private @Nullable SubFlow flowWithRoom() {
    PlaneWeights newest = newestWeights();
    for (int i = 0; i < flows.length; i++) {
      if (newest.weight(i % carriers()) > 0 && flows[i].hasRoom()) {
        return flows[i];
      }
    }
    return null;
  }

  /*
   * Begins the operation, or refuses it if it is invalid. Returns false where it must wait for room
   * or for a plane.
   */
  private boolean begin(OneSidedOperation operation) {
    String outside = directory.describeOutOfBounds(operation);
    if (outside != null) {
      failInvalid(operation, outside);
      return true;
    }
    boolean get = operation.get;
    long number = get ? nextGet : nextNumber;
    int slot = OperationRecord.slot(number);
    int place = get ? GETS * SLOTS + slot : slot;
    if (operations[place] != null || !get && number - creditSeen >= SLOTS) {
      return false;
    }
    /*
     * Spray policies cut operations for the planes in use, so the operation waits while no plane is
     * in use.
     */
    PlaneWeights by = newestWeights();
    if (by.areAllZero()) {
      return false;
    }
    int count = chunkCount(operation.lengthBytes, by);
    int immediate = Immediate.encode(slot, OperationRecord.generation(number), 0, 0, count);
    operations[place] = operation;
    inFlight++;
    begin(place, number, operation.lengthBytes, by, count, number, immediate);
    if (get) {
      nextGet++;
    } else {
      nextNumber++;
      OperationRecord.write(
          record(slot), number, order.takeNext(operation.context), chunkBytes(place, 0), operation);
    }
    count(operation);
    return true;
  }

  private void count(OneSidedOperation operation) {
    if (operation.get) {
      counters[0].get();
      return;
    }
    counters[0].put();
    if (operation.signal != OneSidedOperation.Signal.NONE) {
      counters[0].signal();
    }
  }

  /**
   * Counts a flush of data that gets have read. There is nothing to flush, since data in host
   * memory is visible already. Any thread.
   *
   * @return whether it was counted; else another thread holds the baton
   */
  public boolean countFlush() {
    boolean taken = baton().tryTake();
    if (taken) {
      counters[0].flush();
      baton().release();
    }
    return taken;
  }

  /* Fails this operation only; the group goes on. */
  private void failInvalid(OneSidedOperation operation, String why) {
    log.warn("a one-sided operation on %s is refused: %s", parts.peer(), why);
    RequestLines lines = answers;
    if (lines != null) {
      lines.fail(operation.line, TransportResult.INVALID_ARGUMENT);
    }
  }

  private long record(int slot) {
    return parts.memory().ringAddress() + OperationRecord.offset(slot);
  }

  /* Returns the operation in this place, which is in use. */
  private OneSidedOperation operation(int place) {
    OneSidedOperation found = operations[place];
    if (found == null) {
      throw new IllegalStateException("no operation is in flight in place " + place);
    }
    return found;
  }

  @Override
  protected void addChunk(SubFlow flow, int place, int chunk, long start, int length) {
    OneSidedOperation operation = operation(place);
    int slot = place % SLOTS;
    int immediate = immediate(place, chunk);
    boolean withRecord = !operation.get && chunk == 0;
    if (length > 0) {
      SendWorkRequest wr = flow.add();
      wr.id = flow.id(slot, chunk, withRecord ? NO_CHUNK : length);
      wr.operation =
          operation.get
              ? SendWorkRequest.Operation.RDMA_READ
              : withRecord
                  ? SendWorkRequest.Operation.RDMA_WRITE
                  : SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
      wr.localAddress = operation.localAddress + start;
      wr.lengthBytes = length;
      wr.lkey = operation.localKey;
      wr.inline = false;
      wr.remoteAddress = directory.address(operation.registration) + operation.offset + start;
      wr.rkey = directory.key(operation.registration);
      wr.immediate = immediate;
    }
    if (withRecord) {
      SendWorkRequest wr = flow.add();
      wr.id = flow.id(slot, chunk, length);
      wr.operation = SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
      wr.localAddress = record(slot);
      wr.lengthBytes = OperationRecord.BYTES;
      wr.lkey = parts.memory().ringLocalKey();
      wr.inline = wr.lengthBytes <= flow.inlineBytes;
      wr.remoteAddress = parts.peersRing().address() + OperationRecord.offset(slot);
      wr.rkey = parts.peersRing().key();
      wr.immediate = immediate;
    }
  }

  @Override
  protected int sentBytes(int place, int length) {
    return place / SLOTS == GETS ? 0 : length;
  }

  @Override
  protected void succeeded(WorkCompletion wc, SubFlow flow) {
    long id = wc.workRequestId;
    boolean read = wc.kind == WorkCompletion.Kind.RDMA_READ;
    boolean chunk = SubFlow.lengthOf(id) != NO_CHUNK;
    if (!read && wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(TransportResult.REMOTE_ERROR, "the target sent data over " + flow.pair);
    } else if (SubFlow.isProbe(id)) {
      flow.markProbed();
    } else if (chunk && read) {
      counters[flow.plane].getArrived(SubFlow.lengthOf(id));
      acknowledged(GETS, id, flow);
    } else if (chunk) {
      acknowledged(PUTS, id, flow);
    } else if (read) {
      directory.onRead(SubFlow.lineOf(id), polledAtNs());
    }
  }

  @Override
  protected void done(int place) {
    int line = operation(place).line;
    operations[place] = null;
    inFlight--;
    RequestLines lines = answers;
    if (lines != null) {
      lines.complete(line, 1);
    }
  }

  @Override
  protected boolean isAnyWaiting() {
    return !waiting.isEmpty() || super.isAnyWaiting();
  }

  @Override
  protected void postWaiting() {
    advance();
  }

  @Override
  protected boolean isWaitingForPeer() {
    return false;
  }

  @Override
  public boolean hasPending() {
    return !waiting.isEmpty() || inFlight > 0;
  }

  @Override
  public @Nullable String settle(int plane, Fenced theirs) {
    String wrong = describeContradiction(theirs, plane, nextNumber, nextNumber);
    if (wrong == null && !hasFailed()) {
      directory.forgetReads();
      /* The target keeps no state of a get, so the get's chunks in flight are read again. */
      moveOff(plane, theirs, new Fenced(theirs.plane(), theirs.epoch(), 0, 0, List.of()));
    }
    return wrong;
  }

  @Override
  public void close() {
    baton().spinUntilTaken();
    answers = null;
    baton().release();
    super.close();
  }
}
