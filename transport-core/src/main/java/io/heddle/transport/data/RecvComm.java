package io.heddle.transport.data;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.reorder.ReorderWindow;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.WorkCompletion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receiving end of a connection.
 *
 * <p>A receive opens a slot of the window and writes its clear-to-send entries into the sender's
 * ring by RDMA. It completes once an immediate has arrived for every chunk of every buffer of its
 * group; groups complete in order.
 */
public final class RecvComm extends Communicator {
  private static final int MAX_RECEIVES = ReorderWindow.MAX_RECEIVES;
  private static final int GROUPS = ClearToSend.GROUPS;
  private static final long LARGEST_RECEIVE_BYTES = 0xffff_ffffL;

  private final ReorderWindow window = new ReorderWindow(GROUPS);

  /* Created at the first registration of device memory, before any of its buffers is used. */
  private volatile @Nullable DeviceMemoryFlush flush;

  private final int[] lineOfSlot = new int[GROUPS];
  /* Address of the table of posted lengths: a long for each receive of each slot. */
  private final long postedBytes;

  private final ClearToSendWriter entries;

  public RecvComm(
      ConnectionParts parts,
      Runnable sendClosing,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    super(parts, sendClosing, counters, "receiving", log, onClose);
    this.postedBytes = parts.memory().tableAddress();
    this.entries = new ClearToSendWriter(parts, window, flows, failure);
  }

  @Override
  public long registerDmaBuf(long address, long length, int type, long offset, int descriptor) {
    if (flush == null && memory.needsFlush()) {
      flush = new DeviceMemoryFlush(parts.device(), lines);
    }
    return super.registerDmaBuf(address, length, type, offset, descriptor);
  }

  /**
   * Receives into {@code n} buffers (1 to 8) as one group. The arguments are addresses of C arrays:
   * {@code void *}, {@code size_t}, {@code int}, {@code void *} (memory handles).
   *
   * @return the address of a {@code struct heddle_request}, 0 where it would block and nothing was
   *     consumed, or a negated result code
   */
  public long irecv(int n, long dataArray, long sizesArray, long tagsArray, long handlesArray) {
    if (!baton().tryTake()) {
      return 0;
    }
    try {
      return receive(n, dataArray, sizesArray, tagsArray, handlesArray);
    } finally {
      baton().release();
    }
  }

  private long receive(int n, long dataArray, long sizesArray, long tagsArray, long handlesArray) {
    if (failure.result() != TransportResult.SUCCESS) {
      return -failure.result();
    }
    if (n < 1 || n > MAX_RECEIVES || !isValid(n, sizesArray, handlesArray)) {
      return -TransportResult.INVALID_ARGUMENT;
    }
    int line = window.hasRoom() && entries.canOpenGroup() ? lines.claim() : -1;
    if (line < 0) {
      counters[0].wouldBlock();
      return 0;
    }
    long group = window.nextGroup();
    int slot = window.open(n);
    lineOfSlot[slot] = line;
    long entry = parts.memory().ringAddress() + ClearToSend.groupOffset(group);
    for (int i = 0; i < n; i++) {
      long size = Memory.ALL.get(Memory.NATIVE_LONG, sizesArray + (long) i * Long.BYTES);
      long handle = Memory.ALL.get(Memory.NATIVE_LONG, handlesArray + (long) i * Long.BYTES);
      Memory.setLong(postedBytes(slot, i), size);
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

  private long postedBytes(int slot, int receive) {
    return postedBytes + (slot * MAX_RECEIVES + receive) * (long) Long.BYTES;
  }

  private boolean isValid(int n, long sizesArray, long handlesArray) {
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
   * Makes received data visible to the GPU; host memory needs nothing. One read of any of the
   * buffers is enough.
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

  /*
   * Posts the read that flushes. Waits for the baton, since returning no request would mean that
   * there is nothing to flush.
   */
  private long flush(DeviceMemoryFlush reads, long address, int rkey) {
    baton().spinUntilTaken();
    try {
      int line = lines.claim();
      int code = line < 0 ? -Errno.EAGAIN : reads.post(line, address, rkey);
      if (code == 0) {
        return lines.address(line);
      }
      return -failure.latch(
          TransportResult.SYSTEM_ERROR,
          "the read that flushes device memory can't be posted: " + Errno.describe(-code));
    } finally {
      baton().release();
    }
  }

  @Override
  protected void postPending(ConnectionHealth.Peer peer) {
    DeviceMemoryFlush reads = flush;
    String unflushed = reads == null ? null : reads.progress();
    if (unflushed != null) {
      failure.latch(TransportResult.SYSTEM_ERROR, unflushed);
      return;
    }
    if (entries.isBehind()) {
      entries.post();
    }
    if (peer != ConnectionHealth.Peer.ALIVE && lines.isAnyPending()) {
      failure.onPeerGone();
    }
  }

  /* A peer that has closed may leave our last writes unacknowledged; that alone is no failure. */
  @Override
  protected boolean isFailureRelevant() {
    return parts.health().peer() != ConnectionHealth.Peer.CLOSED || lines.isAnyPending();
  }

  @Override
  protected void succeeded(WorkCompletion wc, SubFlow flow) {
    if (wc.kind == WorkCompletion.Kind.RECEIVE_RDMA_WITH_IMMEDIATE) {
      arrived(flow, wc);
    } else if (wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(
          TransportResult.REMOTE_ERROR, "the sender sent without immediate over " + flow.pair);
    } else {
      counters[flow.plane].acknowledged(0, tookNs(flow));
      entries.acknowledged(wc.workRequestId);
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
    entries.dataArrivedOn(flow);
    int code = flow.receiveConsumed();
    if (code != 0) {
      failure.onRefusedPost(flow, code);
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

  @Override
  protected void completionsTaken() {
    while (window.oldestGroup() != window.nextGroup() && window.isFull(window.oldestGroup())) {
      int slot = window.slotOf(window.oldestGroup());
      int receives = window.receives(slot);
      int line = lineOfSlot[slot];
      for (int i = 0; i < receives; i++) {
        long length = window.lengthBytes(slot, i);
        long posted = Memory.getLong(postedBytes(slot, i));
        if (length > posted) {
          failure.latch(
              TransportResult.REMOTE_ERROR,
              "the sender sent %s bytes for a receive of %s".formatted(length, posted));
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

  /* Returns false: a receive is refused only while other receives are in flight. */
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
  public void planeReturned(LocalPlane plane) {
    DeviceMemoryFlush reads = flush;
    if (reads != null) {
      reads.renew(plane);
    }
  }

  @Override
  public void close() {
    closeFlush();
    super.close();
  }

  /* Closes the flush with the baton: the control thread may renew it at this moment. */
  private void closeFlush() {
    baton().spinUntilTaken();
    try {
      DeviceMemoryFlush reads = flush;
      if (reads != null) {
        flush = null;
        reads.close();
      }
    } finally {
      baton().release();
    }
  }
}
