package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.spray.PlaneLoads;
import io.heddle.spray.PlaneWeights;
import io.heddle.spray.SprayPolicy;
import io.heddle.stats.PlaneCounters;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sending end of a connection.
 *
 * <p>A send is matched with a receive of the group at the head of the clear-to-send ring, and cut
 * into chunks. Each chunk is an RDMA WRITE WITH IMMEDIATE on the plane that the policy chooses. The
 * send is done once every chunk is acknowledged. Sends whose chunks don't fit the queues wait in
 * order in the backlog, and progress posts them; so do chunks that a fenced plane has lost.
 */
public final class SendComm extends Communicator {
  /**
   * Limit on the bytes in flight over all planes of a connection; far above the bandwidth-delay
   * product of any fabric.
   */
  private static final long WINDOW_BYTES = 16L << 20;

  /** Number of empty polls for each reading of the clock. */
  private static final int POLLS_PER_CLOCK_READ = 8;

  private static final int LINES = ConnectionMemory.REQUEST_LINES;
  private static final int FIRST_LINES = 16;

  private final int planes;
  private final int queuePairsPerPlane;
  private final boolean splitsMessages;
  private final SprayPolicy policy;
  private final boolean needsTimes;
  private final PlaneLoads loads;

  /* Number of the group at the head of the clear-to-send ring. */
  private long group;
  /* Receives of that group that have their send, bit i for receive i. */
  private int matched;
  private long message;

  /* Data of each message in flight, by the index of its request line. */
  private long[] dataAddress = {};
  private long[] lengthBytes = {};
  private long[] remoteAddress = {};
  private int[] localKey = {};
  private int[] remoteKey = {};
  private final SentChunks chunks;
  private long replays;
  private boolean truncationLogged;
  private boolean refused;
  private @Nullable PlaneBytes planeBytes;
  private long[] messageNumber = {};
  private PlaneWeights[] cutBy = {};

  /* Weights that the loads are based on; the connection's weights may be newer. */
  private PlaneWeights weights;

  /* Lines that have chunks to be posted, in order. */
  private final Backlog backlog = new Backlog(LINES);

  private final FlowsToPost filled;
  private int idlePolls;
  private long countedPollNs;

  public SendComm(
      ConnectionParts parts,
      Runnable sendClosing,
      SprayPolicy policy,
      boolean splitsMessages,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    super(parts, sendClosing, counters, "sending", log, onClose);
    this.policy = policy;
    this.splitsMessages = splitsMessages;
    this.queuePairsPerPlane = parts.pairs().perCarrier();
    this.planes = flows.length / queuePairsPerPlane;
    this.needsTimes = planes > 1 && policy.needsTimes();
    this.chunks = new SentChunks(planes, parts.memory().tableAddress());
    this.filled = new FlowsToPost(flows, failure);
    this.weights = parts.weights();
    this.loads =
        new PlaneLoads(
            planes, parts.preferredChunkBytes(), WINDOW_BYTES, parts.maxChunksPerPlane());
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

  /* Grows the tables: more messages are in flight than ever before. */
  private void makeRoomFor(int line) {
    int room = Math.max(FIRST_LINES, Integer.highestOneBit(line) << 1);
    dataAddress = Arrays.copyOf(dataAddress, room);
    lengthBytes = Arrays.copyOf(lengthBytes, room);
    remoteAddress = Arrays.copyOf(remoteAddress, room);
    localKey = Arrays.copyOf(localKey, room);
    remoteKey = Arrays.copyOf(remoteKey, room);
    messageNumber = Arrays.copyOf(messageNumber, room);
    cutBy = Arrays.copyOf(cutBy, room);
    chunks.makeRoom(room);
  }

  private long send(long address, long length, int tag, long memoryHandle) {
    if (failure.result() != TransportResult.SUCCESS) {
      return -failure.result();
    }
    long entries = parts.memory().ringAddress() + ClearToSend.groupOffset(group);
    int receives = receivesReady(entries);
    if (receives == 0) {
      /*
       * A caller without pending sends calls no test. Only this call can then detect the entries.
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
      /* Earlier sends may still be acknowledged; until they are done, this one would block. */
      refused = true;
      return lines.isAnyPending() ? 0 : -failure.onPeerGone();
    }
    /*
     * The weights are read only once, since the last plane may fail at any moment, and a message
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

  /* Returns the number of the head group's receives, once all its entries are present; 0 before. */
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
    if (line >= dataAddress.length) {
      makeRoomFor(line);
    }
    dataAddress[line] = address;
    lengthBytes[line] = length;
    remoteAddress[line] = ClearToSend.address(entry);
    remoteKey[line] = ClearToSend.key(entry);
    localKey[line] = (int) (keys >>> 32);
    cutBy[line] = by;
    int count = policy.chunks(length, loads, by);
    int slot = (int) group & (ClearToSend.GROUPS - 1);
    chunks.begin(
        line,
        group,
        Immediate.encode(slot, ClearToSend.generation(entry), receive, 0, count),
        count);
    messageNumber[line] = message++;
    lines.setSize(line, 0, (int) length);
    counters[0].message();
    backlog.add(line);
  }

  /* Returns the newest weights. Costs one volatile read where nothing has changed. */
  private PlaneWeights newestWeights() {
    PlaneWeights newest = parts.weights();
    if (newest != weights) {
      loads.onWeightsChanged(weights, newest);
      weights = newest;
    }
    return newest;
  }

  /* Posts chunks of the backlog, oldest first, while planes have room. */
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

  /* Returns whether all chunks of this line are posted. */
  private boolean postChunks(int line) {
    PlaneWeights newest = newestWeights();
    PlaneWeights by = policy.isCutByWeight() ? cutBy[line] : newest;
    int count = chunks.count(line);
    while (chunks.toPost(line) != 0) {
      int chunk = Long.numberOfTrailingZeros(chunks.toPost(line));
      long start = policy.chunkStart(lengthBytes[line], chunk, count, loads, by);
      long end = policy.chunkStart(lengthBytes[line], chunk + 1, count, loads, by);
      int length = (int) (end - start);
      int plane = policy.choose(messageNumber[line], chunk, count, length, loads, by);
      if (plane >= 0 && newest.isOutOfUse(plane)) {
        plane = SprayPolicy.substitute(length, loads, newest);
      }
      int flow = plane < 0 ? -1 : flowOn(plane, messageNumber[line], chunk);
      if (flow < 0 || !flows[flow].hasRoom()) {
        return false;
      }
      filled.add(flows[flow]);
      SendWorkRequest wr = flows[flow].add();
      wr.id = flows[flow].id(line, chunk, length);
      wr.operation = SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
      wr.localAddress = dataAddress[line] + start;
      wr.lengthBytes = length;
      wr.lkey = localKey[line];
      wr.remoteAddress = remoteAddress[line] + start;
      wr.rkey = remoteKey[line];
      wr.immediate = chunks.immediate(line, chunk);
      chunks.posted(line, chunk, flow);
      loads.started(plane, length, newest);
      counters[plane].chunk(length);
    }
    return true;
  }

  private int flowOn(int plane, long message, int chunk) {
    return queuePairsPerPlane == 1
        ? plane
        : plane + planes * (int) ((splitsMessages ? chunk : message) % queuePairsPerPlane);
  }

  @Override
  void postPending(ConnectionHealth.Peer peer) {
    if (peer == ConnectionHealth.Peer.ALIVE) {
      if (!backlog.isEmpty()) {
        post();
      }
      return;
    }
    /*
     * A peer that closed in good order lingers to acknowledge what it received, and its Closing
     * may overtake the acknowledgements. It takes nothing new: a message that isn't fully posted
     * will never be complete there.
     */
    boolean unfinishable =
        peer == ConnectionHealth.Peer.CLOSED
            ? !backlog.isEmpty() && !isAnyFullyPosted()
            : lines.isAnyPending();
    if (unfinishable) {
      failure.onPeerGone();
    }
  }

  /* Returns whether some message is fully posted and not acknowledged yet. */
  private boolean isAnyFullyPosted() {
    for (int line = 0; line < dataAddress.length; line++) {
      if (chunks.toPost(line) == 0 && !chunks.isDone(line)) {
        return true;
      }
    }
    return false;
  }

  @Override
  boolean isFailureRelevant() {
    return true;
  }

  @Override
  void succeeded(WorkCompletion wc, SubFlow flow) {
    long id = wc.workRequestId;
    if (wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(TransportResult.REMOTE_ERROR, "the receiver sent data over " + flow.pair);
    } else if (SubFlow.isProbe(id)) {
      flow.markProbed();
    } else {
      int line = SubFlow.lineOf(id);
      int length = SubFlow.lengthOf(id);
      counters[flow.plane].acknowledged(length, tookNs(flow));
      if (needsTimes) {
        loads.setTime(polledAtNs());
      }
      loads.finished(flow.plane, length);
      if (chunks.acknowledged(line, SubFlow.chunkOf(id))) {
        lines.complete(line, 1);
      }
    }
  }

  @Override
  void completionsTaken() {
    if (!needsTimes) {
      return;
    }
    if (polledAtNs() != countedPollNs) {
      countedPollNs = polledAtNs();
      loads.onPolled();
    } else if (++idlePolls % POLLS_PER_CLOCK_READ == 0 && loads.isAnyInFlight()) {
      /* Polls that find no completion count as polls too. */
      loads.setTime(clock.nanoTime());
      loads.onPolled();
    }
  }

  @Override
  boolean isWaitingForPeer() {
    return refused;
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
    String wrong =
        chunks.describeContradiction(theirs, plane, group, matched == 0 ? group : group + 1);
    if (wrong != null || failure.result() != TransportResult.SUCCESS) {
      return wrong;
    }
    loads.lost(plane);
    for (int line = 0; line < dataAddress.length; line++) {
      if (chunks.isOutstandingOn(line, plane)) {
        countMoved(line, plane, chunks.settle(line, theirs, plane));
        if (chunks.isDone(line)) {
          lines.complete(line, 1);
        }
      }
    }
    /*
     * The backlog is rebuilt in the order of messages, for chunks to be repeated and chunks that
     * have waited.
     */
    backlog.clear();
    IntStream.range(0, dataAddress.length)
        .filter(line -> chunks.toPost(line) != 0)
        .boxed()
        .sorted(Comparator.comparingLong(line -> messageNumber[line]))
        .forEach(backlog::add);
    if (parts.health().isPeerAlive()) {
      post();
    }
    return null;
  }

  private void countMoved(int line, int plane, long missing) {
    replays += Long.bitCount(missing);
    for (long left = missing; left != 0; left &= left - 1) {
      counters[plane].countMoved(chunkBytes(line, Long.numberOfTrailingZeros(left)));
    }
  }

  private int chunkBytes(int line, int chunk) {
    int count = chunks.count(line);
    long start = policy.chunkStart(lengthBytes[line], chunk, count, loads, cutBy[line]);
    long end = policy.chunkStart(lengthBytes[line], chunk + 1, count, loads, cutBy[line]);
    return (int) (end - start);
  }

  /**
   * Writes the distribution of a send's bytes over the planes, for NCCL's profiler. NCCL's progress
   * thread.
   *
   * @param request address of a send's request, which isn't RELEASED
   * @param out room for {@link PlaneBytes#MAX_PLANES} {@code struct heddle_plane_bytes}
   * @return the number written; 0 where it is unavailable at this moment
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
      return writer.write(chunks, line, chunk -> chunkBytes(line, chunk), out);
    } finally {
      if (taken) {
        baton().release();
      }
    }
  }

  @Override
  public long replays() {
    return replays;
  }
}
