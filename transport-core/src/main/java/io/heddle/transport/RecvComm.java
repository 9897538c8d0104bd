package io.heddle.transport;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.reorder.ReorderWindow;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.stats.PlaneCounters;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a connection; threads as for {@link SendComm}.
 *
 * <p>A receive takes a slot of the window, writes its clear-to-send entries into the sender's ring
 * by RDMA, and completes when an immediate has come for every chunk of every buffer of its group,
 * groups in order.
 */
public final class RecvComm implements AutoCloseable, DrivenEnd {
  private static final int POLL_BATCH = 64;
  private static final int MAX_RECEIVES = ReorderWindow.MAX_RECEIVES;
  private static final int GROUPS = ClearToSend.GROUPS;
  private static final long LARGEST_RECEIVE_BYTES = 0xffff_ffffL;

  private final Connection connection;
  private final Handshake<RecvComm> channel;
  private final DeviceContext context;
  private final MemoryTable memory;
  private final CompletionQueue cq;
  private final RequestLines lines;
  private final SubFlow[] flows;
  private final Baton baton = new Baton();
  private PlaneCounters[] counters;
  private final CommFailure failure;
  private final Runnable onClose;
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);
  private final ReorderWindow window = new ReorderWindow(GROUPS);

  /* Made with the first registration of device memory; its buffers come after that. */
  private volatile @Nullable DeviceMemoryFlush flush;

  private final int[] lineOfSlot = new int[GROUPS];
  private final long[] postedBytes = new long[GROUPS * MAX_RECEIVES];

  private final ClearToSendWriter entries;
  private long polledAtNs;

  RecvComm(
      Connection connection,
      Handshake<RecvComm> channel,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    this.connection = connection;
    this.channel = channel;
    this.counters = counters;
    this.onClose = onClose;
    this.context = connection.device().context();
    this.memory = connection.device().memory();
    this.cq = connection.completionQueue();
    this.lines = connection.lines();
    this.flows = connection.subFlows();
    this.failure = new CommFailure(connection, "receiving", log);
    this.entries = new ClearToSendWriter(connection, window, flows, failure);
  }

  Connection connection() {
    return connection;
  }

  /** Address of the communicator's {@code struct heddle_comm} (native/src/java_calls.h). */
  public long address() {
    return connection.commAddress();
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
    if (flush == null && memory.flushes()) {
      flush = new DeviceMemoryFlush(connection.device(), lines);
    }
    return memory.registerDmaBuf(address, length, type, offset, descriptor);
  }

  /** Any thread. Returns a result code. */
  public int deregisterMemory(long memoryHandle) {
    return memory.deregister(memoryHandle)
        ? TransportResult.SUCCESS
        : TransportResult.INVALID_ARGUMENT;
  }

  /**
   * Receives into {@code n} buffers (1 to 8) as one group. The arguments are addresses of C arrays:
   * {@code void *}, {@code size_t}, {@code int}, {@code void *} (memory handles).
   *
   * @return the address of a {@code struct heddle_request}, 0 where it would block and nothing was
   *     consumed, or a negated result code
   */
  public long irecv(int n, long dataArray, long sizesArray, long tagsArray, long handlesArray) {
    if (!baton.take()) {
      return 0;
    }
    try {
      return receive(n, dataArray, sizesArray, tagsArray, handlesArray);
    } finally {
      baton.give();
    }
  }

  private long receive(int n, long dataArray, long sizesArray, long tagsArray, long handlesArray) {
    if (failure.result() != TransportResult.SUCCESS) {
      return -failure.result();
    }
    if (n < 1 || n > MAX_RECEIVES || !valid(n, sizesArray, handlesArray)) {
      return -TransportResult.INVALID_ARGUMENT;
    }
    int line = window.hasRoom() && entries.mayOpen() ? lines.claim() : -1;
    if (line < 0) {
      counters[0].wouldBlock();
      return 0;
    }
    long group = window.nextGroup();
    int slot = window.open(n);
    lineOfSlot[slot] = line;
    long entry = connection.ringAddress() + ClearToSend.groupOffset(group);
    for (int i = 0; i < n; i++) {
      long size = Memory.ALL.get(Memory.NATIVE_LONG, sizesArray + (long) i * Long.BYTES);
      long handle = Memory.ALL.get(Memory.NATIVE_LONG, handlesArray + (long) i * Long.BYTES);
      postedBytes[slot * MAX_RECEIVES + i] = size;
      ClearToSend.write(
          entry + (long) i * ClearToSend.BYTES,
          group,
          n,
          window.generation(slot),
          Memory.ALL.get(Memory.NATIVE_LONG, dataArray + (long) i * Long.BYTES),
          (int) size,
          Memory.ALL.get(JAVA_INT, tagsArray + (long) i * Integer.BYTES),
          (int) memory.keys(handle));
    }
    entries.post();
    return lines.address(line);
  }

  private boolean valid(int n, long sizesArray, long handlesArray) {
    for (int i = 0; i < n; i++) {
      long size = Memory.ALL.get(Memory.NATIVE_LONG, sizesArray + (long) i * Long.BYTES);
      long handle = Memory.ALL.get(Memory.NATIVE_LONG, handlesArray + (long) i * Long.BYTES);
      if (size < 0 || size > LARGEST_RECEIVE_BYTES || size > 0 && memory.keys(handle) == 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Makes received data visible to the GPU: nothing to do for host memory. One read is enough, of
   * whichever buffer.
   *
   * @return the address of a {@code struct heddle_request}, 0 where there is nothing to do, or a
   *     negated result code
   */
  public long iflush(int n, long dataArray, long sizesArray, long handlesArray) {
    if (failure.result() != TransportResult.SUCCESS) {
      return -failure.result();
    }
    DeviceMemoryFlush reads = flush;
    for (int i = n - 1; i >= 0 && reads != null; i--) {
      long handle = Memory.ALL.get(Memory.NATIVE_LONG, handlesArray + (long) i * Long.BYTES);
      if (Memory.ALL.get(JAVA_INT, sizesArray + (long) i * Integer.BYTES) > 0
          && memory.isOnDevice(handle)) {
        long address = Memory.ALL.get(Memory.NATIVE_LONG, dataArray + (long) i * Long.BYTES);
        return flush(reads, address, (int) memory.keys(handle));
      }
    }
    return 0;
  }

  private long flush(DeviceMemoryFlush reads, long address, int rkey) {
    int line = lines.claim();
    int code = line < 0 ? -Errno.EAGAIN : reads.post(line, address, rkey);
    if (code == 0) {
      return lines.address(line);
    }
    return -failure.latch(
        TransportResult.SYSTEM_ERROR,
        "the read that flushes device memory can't be posted: " + Errno.describe(-code));
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

  private int drive() {
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    /* Read before polling: what the peer sent before it went is then already in the queue. */
    int peerState = connection.peerState();
    takeCompletions();
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    String broken = connection.deviceFailure();
    if (broken != null) {
      return failure.device(broken);
    }
    DeviceMemoryFlush reads = flush;
    String unflushed = reads == null ? null : reads.progress();
    if (unflushed != null) {
      return failure.latch(TransportResult.SYSTEM_ERROR, unflushed);
    }
    if (entries.isBehind()) {
      entries.post();
    }
    if (peerState != Connection.PEER_THERE && lines.anyPending()) {
      failure.peerGone();
    }
    return failure.result();
  }

  @Override
  public void takeCompletions() {
    context.progress();
    int count;
    do {
      count = cq.poll(completions);
      polledAtNs = count > 0 ? System.nanoTime() : polledAtNs;
      for (int i = 0; i < count; i++) {
        completed(completions[i]);
      }
    } while (count == POLL_BATCH);
    if (count < 0) {
      failure.latch(TransportResult.INTERNAL_ERROR, "its completion queue overran");
    } else if (failure.result() == TransportResult.SUCCESS) {
      releaseFullGroups();
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
    if (wc.status != WorkCompletion.Status.SUCCESS) {
      /* A peer that said goodbye may leave our last writes unanswered; that is no failure by itself. */
      if (connection.peerState() != Connection.PEER_CLOSED || lines.anyPending()) {
        failure.completion(wc, flow);
      }
    } else if (wc.kind == WorkCompletion.Kind.RECEIVE_RDMA_WITH_IMMEDIATE) {
      arrived(flow, wc);
    } else if (wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(
          TransportResult.REMOTE_ERROR, "the sender sent without immediate over " + flow.pair);
    } else {
      counters[flow.plane].acknowledged(0, flow.tookNs(polledAtNs));
      entries.acknowledged(id);
    }
  }

  private void arrived(SubFlow flow, WorkCompletion wc) {
    int immediate = wc.immediate;
    if (immediate != Immediate.PROBE && !record(flow, immediate, wc.lengthBytes)) {
      failure.latch(
          TransportResult.REMOTE_ERROR,
          "%s: immediate %#x contradicts what was received".formatted(flow.pair, immediate));
      return;
    }
    int code = flow.receiveConsumed();
    if (code != 0) {
      failure.posting(flow, code);
    }
  }

  private boolean record(SubFlow flow, int immediate, int lengthBytes) {
    int result =
        Immediate.flags(immediate) != 0
            ? ReorderWindow.CONTRADICTION
            : window.record(
                Immediate.slot(immediate),
                Immediate.generation(immediate),
                Immediate.receive(immediate),
                Immediate.chunk(immediate),
                Immediate.chunks(immediate),
                lengthBytes);
    if (result == ReorderWindow.DUPLICATE) {
      counters[flow.plane].duplicate();
    } else if (result != ReorderWindow.CONTRADICTION) {
      counters[flow.plane].chunk(lengthBytes);
      counters[flow.plane].reordered(
          window.aheadOfGap(
              Immediate.slot(immediate), Immediate.receive(immediate), Immediate.chunk(immediate)));
    }
    return result != ReorderWindow.CONTRADICTION;
  }

  private void releaseFullGroups() {
    while (window.oldestGroup() != window.nextGroup() && window.isFull(window.oldestGroup())) {
      int slot = window.slotOf(window.oldestGroup());
      int receives = window.receives(slot);
      int line = lineOfSlot[slot];
      for (int i = 0; i < receives; i++) {
        long length = window.lengthBytes(slot, i);
        if (length > postedBytes[slot * MAX_RECEIVES + i]) {
          failure.latch(
              TransportResult.REMOTE_ERROR,
              "the sender says %d bytes for a receive of %d"
                  .formatted(length, postedBytes[slot * MAX_RECEIVES + i]));
          return;
        }
        lines.setSize(line, i, (int) length);
      }
      entries.released(slot);
      window.releaseOldest();
      counters[0].message();
      lines.complete(line, receives);
    }
  }

  @Override
  public Baton baton() {
    return baton;
  }

  @Override
  public boolean isSender() {
    return false;
  }

  @Override
  public SubFlow[] flows() {
    return flows;
  }

  @Override
  public void replace(SubFlow fresh) {
    flows[fresh.index] = fresh;
  }

  @Override
  public Fenced fenced(String plane, int epoch) {
    List<Arrival> arrivals = new ArrayList<>();
    for (long group = window.oldestGroup(); group != window.nextGroup(); group++) {
      int slot = window.slotOf(group);
      for (int receive = 0; receive < window.receives(slot); receive++) {
        long chunks = window.arrivedChunks(slot, receive);
        if (chunks != 0) {
          arrivals.add(
              new Arrival(
                  slot,
                  window.generation(slot),
                  receive,
                  window.chunkCount(slot, receive),
                  chunks));
        }
      }
    }
    return new Fenced(plane, epoch, window.oldestGroup(), window.nextGroup(), arrivals);
  }

  @Override
  public @Nullable String settle(int plane, Fenced theirs) {
    if (theirs.oldest() != 0 || theirs.next() != 0 || !theirs.arrivals().isEmpty()) {
      return "a sender has no open groups";
    }
    entries.settle(plane);
    if (failure.result() == TransportResult.SUCCESS) {
      entries.post();
    }
    return null;
  }

  @Override
  public long replays() {
    return entries.repeated();
  }

  @Override
  public boolean hasPending() {
    return lines.anyPending();
  }

  @Override
  public void fail(int result, String story) {
    failure.latch(result, story);
  }

  /**
   * May come with requests in flight: they never complete. Service thread; not while another thread
   * drives this.
   */
  @Override
  public void close() {
    /* The control thread may still have to answer what the other end asks about a plane. */
    while (!baton.take()) {
      Thread.onSpinWait();
    }
    try {
      counters = connection.uncounted();
    } finally {
      baton.give();
    }
    DeviceMemoryFlush reads = flush;
    if (reads != null) {
      flush = null;
      reads.close();
    }
    onClose.run();
    channel.close();
  }
}
