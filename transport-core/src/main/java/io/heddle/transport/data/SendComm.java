package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Sending end of a connection.
 *
 * <p>A send is matched with a receive of the group at the head of the clear-to-send ring. Each of
 * its chunks is an RDMA WRITE WITH IMMEDIATE.
 */
public final class SendComm extends SprayingCommunicator {
  /* Number of the group of receives at the head of the clear-to-send ring. */
  private long group;
  /* Receives of the head group that are matched with a send, bit i for receive i. */
  private int matched;
  private long message;

  /* Data of each message in flight, by the index of its request line. */
  private long[] dataAddress = {};
  private long[] remoteAddress = {};
  private int[] localKey = {};
  private int[] remoteKey = {};
  private boolean truncationLogged;
  private boolean refused;
  private @Nullable PlaneBytes planeBytes;

  public SendComm(
      ConnectionParts parts,
      Runnable sendClosing,
      SprayPolicy policy,
      boolean splitsMessages,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    super(parts, sendClosing, policy, splitsMessages, 1, 1, counters, "sending", log, onClose);
  }

  /**
   * Starts a send.
   *
   * @return the address of a {@code struct heddle_request}, 0 where it would block and nothing was
   *     consumed, or a negated result code
   */
  public long isend(long address, long length, int tag, long memoryHandle) {
    if (!baton().tryTake()) {
      return 0;
    }
    try {
      return send(address, length, tag, memoryHandle);
    } finally {
      baton().release();
    }
  }

  @Override
  protected void makeRoom(int lines) {
    super.makeRoom(lines);
    dataAddress = Arrays.copyOf(dataAddress, lines);
    remoteAddress = Arrays.copyOf(remoteAddress, lines);
    localKey = Arrays.copyOf(localKey, lines);
    remoteKey = Arrays.copyOf(remoteKey, lines);
  }

  private long send(long address, long length, int tag, long memoryHandle) {
    if (failure.result() != TransportResult.SUCCESS) {
      return -failure.result();
    }
    long entries = parts.memory().ringAddress() + ClearToSend.groupOffset(group);
    int receives = receivesReady(entries);
    if (receives == 0) {
      /*
       * A caller without pending sends calls no test. Then only this call can detect the receiver's
       * clear-to-send entries.
       */
      int result = drive();
      if (result != TransportResult.SUCCESS) {
        return -result;
      }
      receives = receivesReady(entries);
    }
    int receive = receives == 0 ? -1 : match(entries, receives, tag);
    if (receive < 0) {
      counters[0].wouldBlock();
      refused = true;
      return resultWithoutReceive();
    }
    long entry = entries + (long) receive * ClearToSend.BYTES;
    long keys = memory.keys(memoryHandle);
    if (length < 0 || length > 0 && keys == 0) {
      return -TransportResult.INVALID_ARGUMENT;
    }
    if (!parts.health().isPeerAlive()) {
      /*
       * Earlier sends may still be acknowledged; until they are done, this send returns no request.
       */
      refused = true;
      return lines.isAnyPending() ? 0 : -failure.onPeerGone();
    }
    /*
     * The weights are read only once: the last plane might fail between two reads, and a message
     * must be cut for planes in use.
     */
    PlaneWeights by = newestWeights();
    int line = by.areAllZero() ? -1 : lines.claim();
    if (line < 0) {
      counters[0].wouldBlock();
      refused = true;
      return 0;
    }
    long room = ClearToSend.lengthBytes(entry);
    if (length > room) {
      countTruncated(length, room, tag);
    }
    refused = false;
    accept(line, entry, receive, address, Math.min(length, room), keys, by);
    matched |= 1 << receive;
    if (matched == (1 << receives) - 1) {
      matched = 0;
      group++;
    }
    post();
    return lines.address(line);
  }

  /*
   * Returns the result of a send without a matching receive. A peer that has closed in good order
   * posts no receive any more. Usually its caller and ours end together, and a further send has no
   * meaning. Only a caller that keeps trying must get the failure.
   */
  private long resultWithoutReceive() {
    ConnectionHealth health = parts.health();
    String broken = health.deviceFailure();
    if (broken != null) {
      return -failure.onDeviceFailure(broken);
    }
    return switch (health.peer()) {
      case ALIVE -> 0;
      case CLOSED ->
          health.isGoneLongerThan(ConnectionHealth.LINGER_NS) ? -failure.onPeerGone() : 0;
      case LOST, FAILED -> -failure.onPeerGone();
    };
  }

  /* Counts a send that is cut to its receive's size, as NCCL's own InfiniBand transport cuts it. */
  private void countTruncated(long length, long room, int tag) {
    counters[0].countTruncatedSend();
    if (!truncationLogged) {
      truncationLogged = true;
      failure.logTruncatedSend(length, room, tag);
    }
  }

  /*
   * Returns the number of receives in the group at the head of the ring, once all entries of this
   * group have arrived; 0 before.
   */
  private int receivesReady(long entries) {
    if (!ClearToSend.isOf(entries, group)) {
      return 0;
    }
    int receives = ClearToSend.receives(entries);
    for (int i = 1; i < receives; i++) {
      if (!ClearToSend.isOf(entries + (long) i * ClearToSend.BYTES, group)) {
        return 0;
      }
    }
    return receives >= 1 && receives <= 8 ? receives : 0;
  }

  /*
   * Returns the group's first receive with this tag that has no send yet; −1 where there is none.
   */
  private int match(long entries, int receives, int tag) {
    for (int i = 0; i < receives; i++) {
      if ((matched & 1 << i) == 0
          && ClearToSend.tag(entries + (long) i * ClearToSend.BYTES) == tag) {
        return i;
      }
    }
    return -1;
  }

  private void accept(
      int line, long entry, int receive, long address, long length, long keys, PlaneWeights by) {
    makeRoomFor(line);
    dataAddress[line] = address;
    remoteAddress[line] = ClearToSend.address(entry);
    remoteKey[line] = ClearToSend.key(entry);
    localKey[line] = (int) (keys >>> 32);
    int count = chunkCount(length, by);
    int slot = (int) group & (ClearToSend.GROUPS - 1);
    int immediate = Immediate.encode(slot, ClearToSend.generation(entry), receive, 0, count);
    begin(line, message++, length, by, count, group, immediate);
    lines.setSize(line, 0, (int) length);
  }

  @Override
  protected void addChunk(SubFlow flow, int line, int chunk, long start, int length) {
    SendWorkRequest wr = flow.add();
    wr.id = flow.id(line, chunk, length);
    wr.operation = SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
    wr.localAddress = dataAddress[line] + start;
    wr.lengthBytes = length;
    wr.lkey = localKey[line];
    wr.remoteAddress = remoteAddress[line] + start;
    wr.rkey = remoteKey[line];
    wr.immediate = immediate(line, chunk);
  }

  @Override
  protected int sentBytes(int line, int length) {
    return length;
  }

  @Override
  protected void done(int line) {
    lines.complete(line, 1);
  }

  @Override
  protected void succeeded(WorkCompletion wc, SubFlow flow) {
    long id = wc.workRequestId;
    if (wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(TransportResult.REMOTE_ERROR, "the receiver sent data over " + flow.pair);
    } else if (SubFlow.isProbe(id)) {
      flow.markProbed();
    } else {
      acknowledged(0, id, flow);
    }
  }

  @Override
  protected boolean isWaitingForPeer() {
    return refused;
  }

  @Override
  public @Nullable String settle(int plane, Fenced theirs) {
    String wrong = describeContradiction(theirs, plane, group, matched == 0 ? group : group + 1);
    if (wrong == null && !hasFailed()) {
      moveOff(plane, theirs);
    }
    return wrong;
  }

  /**
   * Writes the distribution of a send's bytes over the planes, for NCCL's profiler. NCCL's progress
   * thread.
   *
   * @param request address of a send's request, which isn't RELEASED
   * @param out room for {@link PlaneBytes#MAX_PLANES} {@code struct heddle_plane_bytes}
   * @return the number of records written; 0 where the distribution is unavailable at this moment
   */
  public int planesOf(long request, long out) {
    int line = lines.line(request);
    boolean taken = baton().tryTake();
    /* A finished request no longer changes, regardless of the baton. */
    if (!taken && lines.isPending(line)) {
      return 0;
    }
    try {
      PlaneBytes writer = planeBytes;
      if (writer == null) {
        writer = new PlaneBytes(parts.arena(), parts.pairs().keys());
        planeBytes = writer;
      }
      return writer.write(chunks(), line, chunk -> chunkBytes(line, chunk), out);
    } finally {
      if (taken) {
        baton().release();
      }
    }
  }
}
