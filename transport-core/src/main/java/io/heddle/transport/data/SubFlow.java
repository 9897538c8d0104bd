package io.heddle.transport.data;

import io.heddle.qppool.PlaneQueuePair;
import io.heddle.verbs.SendWorkRequest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Queue pair of a connection on one plane, with the data path's state of that queue pair. Each
 * epoch of the plane has a new sub-flow. Owned by the holder of the connection's {@link Baton}.
 *
 * <p>A work request's id names its sub-flow:
 *
 * <pre>
 * | receive 1 | length 31 | epoch 11 | probe 1 | sub-flow 6 | chunk 6 | line 8 |
 * </pre>
 */
public final class SubFlow {
  private static final int BATCH = 64;
  private static final int FIRST_BATCH = 8;

  /* Initial capacity for requests in flight; a power of two. */
  private static final int FIRST_RING = 16;
  private static final int CHUNK_SHIFT = 8;
  private static final int FLOW_SHIFT = 14;
  private static final int EPOCH_SHIFT = 21;
  private static final int EPOCH_MASK = 0x7ff;
  private static final int LENGTH_SHIFT = 32;
  private static final long PROBE = 1L << 20;
  private static final long RECEIVE = 1L << 63;

  /* Weight of each new duration in the average: one eighth. */
  private static final int AVERAGE_SHIFT = 3;

  final int index;
  public final int plane;
  final int epoch;
  public final PlaneQueuePair pair;

  /** Largest payload that may be inline in a work request, in bytes. */
  public final int inlineBytes;

  /* Bits that the ids of all work requests of this sub-flow have in common. */
  private final long idBase;
  /* Requests of a batch, each allocated at its first use. */
  private @Nullable SendWorkRequest[] requests = new SendWorkRequest[FIRST_BATCH];
  private int batched;
  private int freeSends;
  private int postedReceives;
  private int consumedReceives;
  private boolean broken;
  private boolean retired;
  private boolean probed;

  /*
   * Post times of requests in flight, which a queue pair completes in that order. The array is a
   * ring that grows.
   */
  private long[] postedAtNs = new long[FIRST_RING];
  private int posted;
  private int completed;
  private long averageSendNs;

  /**
   * @param index index of this sub-flow among the connection's sub-flows
   * @param plane index of the plane, or of the carrier of several planes, in the connection
   * @param epoch epoch of the plane
   */
  SubFlow(int index, int plane, int epoch, PlaneQueuePair pair) {
    this.index = index;
    this.plane = plane;
    this.epoch = epoch;
    this.pair = pair;
    this.inlineBytes = pair.queuePair().inlineBytes();
    this.idBase = idBase(index, epoch);
    this.freeSends = pair.sendDepth();
    this.postedReceives = pair.hasReceives() ? pair.receiveDepth() : 0;
  }

  private static long idBase(int index, int epoch) {
    return (long) (epoch & EPOCH_MASK) << EPOCH_SHIFT | (long) index << FLOW_SHIFT;
  }

  /** Returns the id of the receives that are posted on this sub-flow in this epoch. */
  static long receiveId(int index, int epoch) {
    return RECEIVE | idBase(index, epoch);
  }

  static int flowOf(long id) {
    return (int) (id >>> FLOW_SHIFT) & 0x3f;
  }

  static int chunkOf(long id) {
    return (int) (id >>> CHUNK_SHIFT) & 0x3f;
  }

  public static int lineOf(long id) {
    return (int) id & 0xff;
  }

  public static int lengthOf(long id) {
    return (int) (id >>> LENGTH_SHIFT) & Integer.MAX_VALUE;
  }

  public static boolean isProbe(long id) {
    return (id & PROBE) != 0;
  }

  /** Returns the id of a chunk's write. */
  public long id(int line, int chunk, int lengthBytes) {
    return (long) lengthBytes << LENGTH_SHIFT | idBase | (long) chunk << CHUNK_SHIFT | line;
  }

  /** Returns whether this completion is of another epoch, or comes after this end was fenced. */
  boolean isStale(long id) {
    return retired || ((id ^ idBase) & (long) EPOCH_MASK << EPOCH_SHIFT) != 0;
  }

  /** Returns whether another request can be added to the batch. */
  public boolean hasRoom() {
    return batched < BATCH && freeSends > 0 && !broken;
  }

  /** Returns whether this many requests can be added to the batch. */
  boolean hasRoomFor(int more) {
    return batched + more <= BATCH && freeSends >= more && !broken;
  }

  /**
   * Returns the next request of the batch, signalled, for the caller to fill. There must be room.
   */
  public SendWorkRequest add() {
    if (batched == requests.length) {
      requests = Arrays.copyOf(requests, 2 * batched);
    }
    SendWorkRequest wr = requests[batched];
    if (wr == null) {
      wr = new SendWorkRequest();
      requests[batched] = wr;
    }
    wr.signalled = true;
    wr.next = null;
    SendWorkRequest before = batched > 0 ? requests[batched - 1] : null;
    if (before != null) {
      before.next = wr;
    }
    batched++;
    freeSends--;
    return wr;
  }

  /**
   * Posts the batch.
   *
   * @param nowNs the time, read once for all planes
   * @return 0, or the device's error when it didn't take all. A connection never posts more than
   *     its queues hold, so a partial post is a failure of the queue pair
   */
  public int post(long nowNs) {
    SendWorkRequest first = requests[0];
    if (batched == 0 || first == null) {
      return 0;
    }
    int count = batched;
    batched = 0;
    /* The ring keeps the time of the request that completed last, since recordDuration reads it. */
    if (posted + count - completed >= postedAtNs.length) {
      grow(posted + count - completed + 1);
    }
    for (int i = 0; i < count; i++) {
      postedAtNs[posted++ & postedAtNs.length - 1] = nowNs;
    }
    int taken = pair.queuePair().postSend(first);
    if (taken == count) {
      return 0;
    }
    freeSends += count - Math.max(taken, 0);
    return Math.min(taken, -1);
  }

  private void grow(int least) {
    long[] wide = new long[Integer.highestOneBit(least - 1) << 1];
    for (int number = completed - 1; number != posted; number++) {
      wide[number & wide.length - 1] = postedAtNs[number & postedAtNs.length - 1];
    }
    postedAtNs = wide;
  }

  /**
   * Posts a probe: an empty write that tests whether the plane carries traffic. Returns the same as
   * {@link #post}.
   */
  public int probe(long nowNs) {
    SendWorkRequest wr = add();
    wr.id = idBase | PROBE;
    wr.operation = SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE;
    wr.localAddress = 0;
    wr.lengthBytes = 0;
    wr.lkey = 0;
    wr.remoteAddress = 0;
    wr.rkey = 0;
    wr.immediate = Immediate.PROBE;
    return post(nowNs);
  }

  /** Records the completion of a posted request, of any status. */
  void completed(long id) {
    if (id < 0) {
      postedReceives--;
    } else {
      freeSends++;
      completed++;
    }
  }

  /** Adds the duration of the send that completed last to the average; returns it, in ns. */
  long recordDuration(long nowNs) {
    long took = nowNs - postedAtNs[completed - 1 & postedAtNs.length - 1];
    averageSendNs += took - averageSendNs >> AVERAGE_SHIFT;
    return took;
  }

  /** Returns a running average of the duration of sends, in ns; 0 before the first. */
  public long averageSendNs() {
    return averageSendNs;
  }

  /** Records the acknowledgement of a probe. */
  public void markProbed() {
    probed = true;
  }

  /** Posts new receives for the consumed ones, in batches. Returns 0 or a negative errno. */
  public int receiveConsumed() {
    if (++consumedReceives < pair.receiveDepth() / 4 || broken) {
      return 0;
    }
    int count = consumedReceives;
    consumedReceives = 0;
    postedReceives += count;
    return pair.queuePair().postEmptyReceives(RECEIVE | idBase, count);
  }

  /**
   * Marks the sub-flow as broken: nothing more is posted. Returns whether it wasn't broken before.
   */
  public boolean markBroken() {
    boolean was = broken;
    broken = true;
    return !was;
  }

  /** Returns the number of sends without a completion. */
  public int unanswered() {
    return retired ? 0 : pair.sendDepth() - freeSends;
  }

  /** Returns the number of completed sends since the beginning. */
  public int answered() {
    return completed;
  }

  /** Returns whether every posted request has its completion, or the sub-flow is retired. */
  public boolean isDrained() {
    return retired || freeSends == pair.sendDepth() && postedReceives == 0;
  }

  /** Retires the sub-flow: its further completions are dropped. */
  public void retire() {
    broken = true;
    retired = true;
  }

  /** Returns whether a probe was acknowledged. */
  public boolean isProbed() {
    return probed;
  }
}
