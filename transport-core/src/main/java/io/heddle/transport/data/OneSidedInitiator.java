package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.spray.PlaneLoads;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Initiator's end of one-sided operations on a peer: docs/decisions/one-sided.md.
 *
 * <p>Operations begin in the order of their submission, while the target's window has room. The
 * policy cuts each operation into chunks. A put's first chunk is an RDMA WRITE, followed by a WRITE
 * WITH IMMEDIATE of the {@link OperationRecord}; its other chunks are WRITEs WITH IMMEDIATE. A
 * get's chunks are RDMA READs.
 */
public final class OneSidedInitiator extends Communicator {
  /** Result of {@link #submit}: another thread holds the baton, and nothing was done. */
  public static final int BUSY = -1;

  private static final int SLOTS = OperationRecord.SLOTS;
  private static final long WINDOW_BYTES = 16L << 20;

  /*
   * Length in the id of a request that completes no chunk: a directory read, or the data before a
   * record.
   */
  private static final int NO_CHUNK = Integer.MAX_VALUE;

  private final Log log;
  private final int planes;
  private final int queuePairsPerPlane;
  private final SprayPolicy policy;
  private final boolean needsTimes;
  private final PlaneLoads loads;
  /* Null once this end is closed: no caller waits any more, and the lines may be gone. */
  private @Nullable RequestLines answers;
  private final RemoteDirectory directory;
  private final ContextOrder order = new ContextOrder();

  private final ArrayDeque<OneSidedOperation> waiting = new ArrayDeque<>();
  private final OperationsInFlight puts;
  private final OperationsInFlight gets;
  /* Slots with chunks to be posted. Slots of gets are offset by SLOTS. */
  private final Backlog backlog = new Backlog(2 * SLOTS);
  private long nextNumber;
  private long nextGet;
  private long creditSeen;
  private long replays;
  private PlaneWeights weights;
  private final FlowsToPost filled;

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
    super(parts, sendClosing, counters, "one-sided sending", log, onClose);
    this.log = log;
    this.policy = policy;
    this.answers = answers;
    queuePairsPerPlane = parts.pairs().perCarrier();
    planes = flows.length / queuePairsPerPlane;
    filled = new FlowsToPost(flows, failure);
    needsTimes = planes > 1 && policy.needsTimes();
    puts = new OperationsInFlight(planes, parts.memory().tableAddress());
    gets =
        new OperationsInFlight(
            planes, Memory.allocate(parts.arena(), SentChunks.carrierBytes(SLOTS), 64));
    directory = new RemoteDirectory(parts.memory().ringAddress(), parts.memory().ringLocalKey());
    weights = parts.weights();
    loads =
        new PlaneLoads(
            planes, parts.preferredChunkBytes(), WINDOW_BYTES, parts.maxChunksPerPlane());
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
        filled.add(flow);
      }
    }
    return false;
  }

  private @Nullable SubFlow flowWithRoom() {
    PlaneWeights newest = newestWeights();
    for (int i = 0; i < flows.length; i++) {
      if (newest.weight(i % planes) > 0 && flows[i].hasRoom()) {
        return flows[i];
      }
    }
    return null;
  }

  /* Begins the operation if there is room. Returns whether it has begun, or was refused. */
  private boolean begin(OneSidedOperation operation) {
    String outside = directory.describeOutOfBounds(operation);
    if (outside != null) {
      failInvalid(operation, outside);
      return true;
    }
    boolean get = operation.get;
    OperationsInFlight flight = get ? gets : puts;
    long number = get ? nextGet : nextNumber;
    int slot = OperationRecord.slot(number);
    if (!flight.isFree(slot) || !get && number - creditSeen >= SLOTS) {
      return false;
    }
    /* Policies cut for planes in use; while no plane is in use, the operation waits. */
    PlaneWeights by = newestWeights();
    if (by.areAllZero()) {
      return false;
    }
    int count = policy.chunks(operation.lengthBytes, loads, by);
    if (get) {
      nextGet++;
    } else {
      nextNumber++;
    }
    flight.begin(slot, number, operation, by, count);
    if (!get) {
      OperationRecord.write(
          record(slot),
          number,
          order.takeNext(operation.context),
          chunkBytes(flight, slot, 0),
          operation);
    }
    counters[0].message();
    count(operation);
    backlog.add(get ? slot + SLOTS : slot);
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

  private PlaneWeights newestWeights() {
    PlaneWeights newest = parts.weights();
    if (newest != weights) {
      loads.onWeightsChanged(weights, newest);
      weights = newest;
    }
    return newest;
  }

  private void post() {
    long nowNs = clock.nanoTime();
    if (needsTimes) {
      loads.setTime(nowNs);
    }
    while (!backlog.isEmpty() && postChunks(backlog.first())) {
      backlog.removeFirst();
    }
    filled.post(nowNs);
  }

  /* Returns whether all chunks of this operation are posted. */
  private boolean postChunks(int place) {
    OperationsInFlight flight = place >= SLOTS ? gets : puts;
    int slot = place & SLOTS - 1;
    OneSidedOperation operation = flight.at(slot);
    PlaneWeights newest = newestWeights();
    PlaneWeights by = policy.isCutByWeight() ? flight.cutBy(slot) : newest;
    int count = flight.chunks.count(slot);
    while (flight.chunks.toPost(slot) != 0) {
      int chunk = Long.numberOfTrailingZeros(flight.chunks.toPost(slot));
      long start = policy.chunkStart(operation.lengthBytes, chunk, count, loads, by);
      long end = policy.chunkStart(operation.lengthBytes, chunk + 1, count, loads, by);
      int length = (int) (end - start);
      int plane = policy.choose(flight.number(slot), chunk, count, length, loads, by);
      if (plane >= 0 && newest.isOutOfUse(plane)) {
        plane = SprayPolicy.substitute(length, loads, newest);
      }
      if (plane < 0) {
        return false;
      }
      SubFlow flow = flows[plane + planes * (int) (flight.number(slot) % queuePairsPerPlane)];
      if (!flow.hasRoomFor(2)) {
        return false;
      }
      filled.add(flow);
      add(flow, flight, slot, chunk, start, length);
      flight.chunks.posted(slot, chunk, flow.index);
      loads.started(plane, length, newest);
      counters[plane].chunk(operation.get ? 0 : length);
    }
    return true;
  }

  private void add(
      SubFlow flow, OperationsInFlight flight, int slot, int chunk, long start, int length) {
    OneSidedOperation operation = flight.at(slot);
    boolean withRecord = flight == puts && chunk == 0;
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
      wr.immediate = flight.chunks.immediate(slot, chunk);
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
      wr.immediate = flight.chunks.immediate(slot, chunk);
    }
  }

  @Override
  void succeeded(WorkCompletion wc, SubFlow flow) {
    long id = wc.workRequestId;
    boolean read = wc.kind == WorkCompletion.Kind.RDMA_READ;
    boolean chunk = SubFlow.lengthOf(id) != NO_CHUNK;
    if (!read && wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(TransportResult.REMOTE_ERROR, "the target sent data over " + flow.pair);
    } else if (SubFlow.isProbe(id)) {
      flow.markProbed();
    } else if (chunk) {
      acknowledged(read ? gets : puts, id, flow);
    } else if (read) {
      directory.onRead(SubFlow.lineOf(id), polledAtNs());
    }
  }

  private void acknowledged(OperationsInFlight flight, long id, SubFlow flow) {
    int length = SubFlow.lengthOf(id);
    int slot = SubFlow.lineOf(id);
    boolean get = flight == gets;
    counters[flow.plane].acknowledged(get ? 0 : length, tookNs(flow));
    if (get) {
      counters[flow.plane].getArrived(length);
    }
    if (needsTimes) {
      loads.setTime(polledAtNs());
    }
    loads.finished(flow.plane, length);
    if (flight.chunks.acknowledged(slot, SubFlow.chunkOf(id))) {
      done(flight, slot);
    }
  }

  private void done(OperationsInFlight flight, int slot) {
    int line = flight.at(slot).line;
    flight.end(slot);
    RequestLines lines = answers;
    if (lines != null) {
      lines.complete(line, 1);
    }
  }

  @Override
  void postPending(ConnectionHealth.Peer peer) {
    if (peer == ConnectionHealth.Peer.ALIVE) {
      if (!waiting.isEmpty()) {
        advance();
      } else if (!backlog.isEmpty()) {
        post();
      }
      return;
    }
    /* A target that has closed still acknowledges received data, but takes nothing new. */
    boolean unpostable = !waiting.isEmpty() || !backlog.isEmpty();
    boolean unfinishable =
        peer == ConnectionHealth.Peer.CLOSED
            ? unpostable && !puts.isAnyPosted() && !gets.isAnyPosted()
            : hasPending();
    if (unfinishable) {
      failure.onPeerGone();
    }
  }

  @Override
  boolean isFailureRelevant() {
    return true;
  }

  @Override
  void completionsTaken() {
    if (needsTimes && loads.isAnyInFlight()) {
      loads.setTime(clock.nanoTime());
      loads.onPolled();
    }
  }

  @Override
  boolean isWaitingForPeer() {
    return false;
  }

  @Override
  public boolean hasPending() {
    return !(waiting.isEmpty() && puts.isEmpty() && gets.isEmpty());
  }

  @Override
  public boolean isSender() {
    return true;
  }

  @Override
  public Fenced fenced(String plane, int epoch) {
    return new Fenced(plane, epoch, 0, 0, List.of());
  }

  @Override
  public @Nullable String settle(int plane, Fenced theirs) {
    String wrong = puts.chunks.describeContradiction(theirs, plane, nextNumber, nextNumber);
    if (wrong != null || failure.result() != TransportResult.SUCCESS) {
      return wrong;
    }
    loads.lost(plane);
    directory.forgetReads();
    settle(puts, plane, theirs);
    /* The target keeps no state of a get, so the get's chunks in flight are read again. */
    settle(gets, plane, new Fenced(theirs.plane(), theirs.epoch(), 0, 0, List.of()));
    backlog.clear();
    /* Added in order again, so that repeated chunks come before waiting ones. */
    puts.unposted().forEach(backlog::add);
    gets.unposted().forEach(slot -> backlog.add(SLOTS + slot));
    if (parts.health().isPeerAlive()) {
      post();
    }
    return null;
  }

  private void settle(OperationsInFlight flight, int plane, Fenced theirs) {
    for (int slot = 0; slot < SLOTS; slot++) {
      if (flight.isFree(slot) || !flight.chunks.isOutstandingOn(slot, plane)) {
        continue;
      }
      long missing = flight.chunks.settle(slot, theirs, plane);
      replays += Long.bitCount(missing);
      for (long left = missing; left != 0; left &= left - 1) {
        int bytes = chunkBytes(flight, slot, Long.numberOfTrailingZeros(left));
        counters[plane].countMoved(flight == gets ? 0 : bytes);
      }
      if (flight.chunks.isDone(slot)) {
        done(flight, slot);
      }
    }
  }

  private int chunkBytes(OperationsInFlight flight, int slot, int chunk) {
    long length = flight.at(slot).lengthBytes;
    int count = flight.chunks.count(slot);
    PlaneWeights by = flight.cutBy(slot);
    return (int)
        (policy.chunkStart(length, chunk + 1, count, loads, by)
            - policy.chunkStart(length, chunk, count, loads, by));
  }

  @Override
  public long replays() {
    return replays;
  }

  @Override
  public void close() {
    while (!baton().tryTake()) {
      Thread.onSpinWait();
    }
    answers = null;
    baton().release();
    super.close();
  }
}
