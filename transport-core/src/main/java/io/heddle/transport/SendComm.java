package io.heddle.transport;

import io.heddle.platform.Log;
import io.heddle.transport.spray.PlaneLoads;
import io.heddle.transport.spray.PlaneWeights;
import io.heddle.transport.spray.SprayPolicy;
import io.heddle.transport.stats.PlaneCounters;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;

/**
 * The sending end of a connection.
 *
 * <p>NCCL's progress thread calls isend and progress, its service thread the others, at the same
 * time. Everything that isn't said to be another thread's is the progress thread's.
 *
 * <p>A send takes the head of the clear-to-send ring, is cut into chunks, and each chunk is an RDMA
 * WRITE WITH IMMEDIATE on the plane that the policy names. It is done when every chunk was
 * acknowledged. Sends whose chunks don't fit the queues wait in order in the backlog and are posted
 * by progress.
 */
public final class SendComm implements AutoCloseable {
  /**
   * Bytes under way over all planes of a connection; far above the bandwidth-delay product of any
   * fabric.
   */
  private static final long WINDOW_BYTES = 16L << 20;

  private static final int POLL_BATCH = 64;
  private static final int LINES = Connection.REQUEST_LINES;

  private final Connection connection;
  private final Handshake<SendComm> channel;
  private final DeviceContext context;
  private final MemoryTable memory;
  private final CompletionQueue cq;
  private final RequestLines lines;
  /* One of each plane, then the second one of each plane, and so on. */
  private final SubFlow[] flows;
  private final int planes;
  private final int queuePairsPerPlane;
  private final boolean splitsMessages;
  private final PlaneCounters[] counters;
  private final SprayPolicy policy;
  private final PlaneLoads loads;
  private final CommFailure failure;
  private final Runnable onClose;
  private final WorkCompletion[] completions = WorkCompletion.batch(POLL_BATCH);

  /* The group at the ring's head, and which of its receives have their send already. */
  private long group;
  private int matched;
  private long message;
  private long polledAtNs;

  /* Per request line: what is still to be posted and to be acknowledged. */
  private final long[] dataAddress = new long[LINES];
  private final long[] lengthBytes = new long[LINES];
  private final long[] remoteAddress = new long[LINES];
  private final int[] localKey = new int[LINES];
  private final int[] remoteKey = new int[LINES];
  private final int[] immediateBase = new int[LINES];
  private final int[] chunks = new int[LINES];
  private final int[] nextChunk = new int[LINES];
  private final int[] unacknowledged = new int[LINES];
  private final long[] messageNumber = new long[LINES];
  private final PlaneWeights[] cutBy = new PlaneWeights[LINES];

  /* The snapshot that loads are kept under; the connection's may be newer. */
  private PlaneWeights weights;

  /* Lines that have chunks to be posted, in order. */
  private final int[] backlog = new int[LINES];
  private long backlogHead;
  private long backlogTail;

  SendComm(
      Connection connection,
      Handshake<SendComm> channel,
      SprayPolicy policy,
      boolean splitsMessages,
      PlaneCounters[] counters,
      Log log,
      Runnable onClose) {
    this.connection = connection;
    this.channel = channel;
    this.policy = policy;
    this.splitsMessages = splitsMessages;
    this.counters = counters;
    this.onClose = onClose;
    this.context = connection.device().context();
    this.memory = connection.device().memory();
    this.cq = connection.completionQueue();
    this.lines = connection.lines();
    this.flows = connection.subFlows();
    this.queuePairsPerPlane = connection.queuePairsPerPlane();
    this.planes = flows.length / queuePairsPerPlane;
    this.weights = connection.weights();
    this.loads =
        new PlaneLoads(
            planes, connection.preferredChunkBytes(), WINDOW_BYTES, connection.maxChunksPerPlane());
    this.failure = new CommFailure(connection, "sending", log);
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
    return Transport.register(memory, address, length, type);
  }

  /** Any thread. Returns a result code. */
  public int deregisterMemory(long memoryHandle) {
    return memory.deregister(memoryHandle)
        ? TransportResult.SUCCESS
        : TransportResult.INVALID_ARGUMENT;
  }

  /**
   * Starts a send.
   *
   * @return the address of a {@code struct heddle_request}, 0 where it would block and nothing was
   *     consumed, or a negated result code
   */
  public long isend(long address, long length, int tag, long memoryHandle) {
    if (failure.result() != TransportResult.SUCCESS) {
      return -failure.result();
    }
    long entries = connection.ringAddress() + ClearToSend.groupOffset(group);
    int receives = receivesReady(entries);
    if (receives == 0) {
      /* A caller whose sends are all done tests nothing, so this call alone can let the entries come in. */
      int result = progress();
      if (result != TransportResult.SUCCESS) {
        return -result;
      }
      receives = receivesReady(entries);
    }
    int receive = receives == 0 ? -1 : match(entries, receives, tag);
    if (receive < 0) {
      counters[0].wouldBlock();
      return connection.peerState() == Connection.PEER_THERE ? 0 : -failure.peerGone();
    }
    long entry = entries + (long) receive * ClearToSend.BYTES;
    long keys = memory.keys(memoryHandle);
    if (length < 0 || length > 0 && keys == 0) {
      return -TransportResult.INVALID_ARGUMENT;
    }
    if (length > ClearToSend.lengthBytes(entry)) {
      return -failure.latch(
          TransportResult.INVALID_USAGE,
          "a send of %d bytes (tag %d) meets a receive of %d bytes"
              .formatted(length, tag, ClearToSend.lengthBytes(entry)));
    }
    int line = lines.claim();
    if (line < 0) {
      counters[0].wouldBlock();
      return 0;
    }
    accept(line, entry, receive, address, length, keys);
    matched |= 1 << receive;
    if (matched == (1 << receives) - 1) {
      matched = 0;
      group++;
    }
    int result = post();
    return result == TransportResult.SUCCESS ? lines.address(line) : -result;
  }

  /* How many receives the group at the head has, once all its entries are there; 0 before. */
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

  /* The first receive of the group with this tag that has no send yet; −1 where there is none. */
  private int match(long entries, int receives, int tag) {
    for (int i = 0; i < receives; i++) {
      if ((matched & 1 << i) == 0
          && ClearToSend.tag(entries + (long) i * ClearToSend.BYTES) == tag) {
        return i;
      }
    }
    return -1;
  }

  private void accept(int line, long entry, int receive, long address, long length, long keys) {
    dataAddress[line] = address;
    lengthBytes[line] = length;
    remoteAddress[line] = ClearToSend.address(entry);
    remoteKey[line] = ClearToSend.key(entry);
    localKey[line] = (int) (keys >>> 32);
    cutBy[line] = newestWeights();
    chunks[line] = policy.chunks(length, loads, weights);
    nextChunk[line] = 0;
    unacknowledged[line] = chunks[line];
    immediateBase[line] =
        Immediate.encode(
            (int) group & (ClearToSend.GROUPS - 1),
            ClearToSend.generation(entry),
            receive,
            0,
            chunks[line]);
    messageNumber[line] = message++;
    lines.setSize(line, 0, (int) length);
    counters[0].message();
    backlog[(int) backlogTail++ & (LINES - 1)] = line;
  }

  /* One volatile read where nothing has changed. */
  private PlaneWeights newestWeights() {
    PlaneWeights newest = connection.weights();
    if (newest != weights) {
      weights = newest;
      loads.weightsChanged();
    }
    return newest;
  }

  /* Posts chunks of the backlog, oldest first, while the planes take them. */
  private int post() {
    while (backlogHead != backlogTail) {
      int line = backlog[(int) backlogHead & (LINES - 1)];
      if (!postChunks(line)) {
        break;
      }
      backlogHead++;
    }
    for (SubFlow flow : flows) {
      int code = flow.post();
      if (code != 0) {
        return failure.posting(flow, code);
      }
    }
    return TransportResult.SUCCESS;
  }

  /* Returns whether all chunks of this line are posted. */
  private boolean postChunks(int line) {
    PlaneWeights newest = newestWeights();
    PlaneWeights by = policy.cutsByWeight() ? cutBy[line] : newest;
    while (nextChunk[line] < chunks[line]) {
      int chunk = nextChunk[line];
      long start = policy.chunkStart(lengthBytes[line], chunk, chunks[line], loads, by);
      long end = policy.chunkStart(lengthBytes[line], chunk + 1, chunks[line], loads, by);
      int length = (int) (end - start);
      int plane = policy.choose(messageNumber[line], chunk, chunks[line], length, loads, by);
      int flow = plane < 0 ? -1 : flowOn(plane, messageNumber[line], chunk);
      if (flow < 0 || !flows[flow].hasRoom()) {
        return false;
      }
      SendWorkRequest wr = flows[flow].add();
      wr.id = (long) length << 32 | (long) flow << 16 | line;
      wr.operation = SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
      wr.localAddress = dataAddress[line] + start;
      wr.lengthBytes = length;
      wr.lkey = localKey[line];
      wr.remoteAddress = remoteAddress[line] + start;
      wr.rkey = remoteKey[line];
      wr.immediate = immediateBase[line] | chunk << 11;
      loads.started(plane, length, newest);
      counters[plane].chunk(length);
      nextChunk[line] = chunk + 1;
    }
    return true;
  }

  private int flowOn(int plane, long message, int chunk) {
    return queuePairsPerPlane == 1
        ? plane
        : plane + planes * (int) ((splitsMessages ? chunk : message) % queuePairsPerPlane);
  }

  /**
   * Moves the device and all requests of this communicator on; never blocks.
   *
   * @return a result code
   */
  public int progress() {
    if (failure.result() != TransportResult.SUCCESS) {
      return failure.result();
    }
    /* Read before polling: what the peer did before it went is then already in the queue. */
    int peerState = connection.peerState();
    context.progress();
    int count;
    do {
      count = cq.poll(completions);
      polledAtNs = count > 0 ? System.nanoTime() : polledAtNs;
      for (int i = 0; i < count; i++) {
        if (!completed(completions[i])) {
          return failure.result();
        }
      }
    } while (count == POLL_BATCH);
    if (count < 0) {
      return failure.latch(TransportResult.INTERNAL_ERROR, "its completion queue overran");
    }
    String broken = connection.deviceFailure();
    if (broken != null) {
      return failure.device(broken);
    }
    if (backlogHead != backlogTail && post() != TransportResult.SUCCESS) {
      return failure.result();
    }
    /* A peer that closed in good order lingers to acknowledge what it took, and its goodbye may overtake the
    acknowledgements. What it doesn't take any more fails by the queue pair's own retries. */
    if (peerState > Connection.PEER_CLOSED && lines.anyPending()) {
      failure.peerGone();
    }
    return failure.result();
  }

  private boolean completed(WorkCompletion wc) {
    if (wc.status != WorkCompletion.Status.SUCCESS) {
      failure.completion(wc, flows[flowOf(wc)]);
      return false;
    }
    if (wc.kind != WorkCompletion.Kind.RDMA_WRITE) {
      failure.latch(
          TransportResult.REMOTE_ERROR, "the receiver sent data over " + flows[flowOf(wc)].pair);
      return false;
    }
    int line = (int) wc.workRequestId & 0xffff;
    SubFlow flow = flows[(int) (wc.workRequestId >>> 16) & 0xffff];
    int length = (int) (wc.workRequestId >>> 32);
    counters[flow.plane].acknowledged(length, flow.sendCompleted(polledAtNs));
    loads.finished(flow.plane, length);
    if (--unacknowledged[line] == 0) {
      lines.complete(line, 1);
    }
    return true;
  }

  private int flowOf(WorkCompletion wc) {
    for (SubFlow flow : flows) {
      if (flow.pair.queuePair().number() == wc.queuePairNumber) {
        return flow.index;
      }
    }
    return 0;
  }

  /**
   * May come with requests in flight: they never complete. Service thread; not while another thread
   * drives this.
   */
  @Override
  public void close() {
    connection.forgetCounters();
    onClose.run();
    channel.close();
  }
}
