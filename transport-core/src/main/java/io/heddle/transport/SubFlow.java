package io.heddle.transport;

import io.heddle.qppool.PlaneQueuePair;
import io.heddle.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * One queue pair of a connection on one plane, with what the data path keeps about it. Owned by the
 * thread that drives the connection.
 */
final class SubFlow {
  private static final int BATCH = 64;

  final int index;
  final int plane;
  final PlaneQueuePair pair;

  private final SendWorkRequest[] requests = new SendWorkRequest[BATCH];
  private int batched;
  private int freeSends;
  private int consumedReceives;

  /* When requests that are under way were posted; a queue pair completes them in that order. */
  private final long[] postedAtNs;
  private int posted;
  private int completed;

  /**
   * @param index among the connection's sub-flows; receives are posted under it
   * @param plane among the connection's planes
   */
  SubFlow(int index, int plane, PlaneQueuePair pair) {
    this.index = index;
    this.plane = plane;
    this.pair = pair;
    this.freeSends = pair.sendDepth();
    this.postedAtNs = new long[Integer.highestOneBit(2 * freeSends - 1)];
    for (int i = 0; i < BATCH; i++) {
      requests[i] = new SendWorkRequest();
    }
  }

  /** Whether another request can be added to the batch. */
  boolean hasRoom() {
    return batched < BATCH && freeSends > 0;
  }

  /** The next request of the batch, signalled, for the caller to fill. There must be room. */
  SendWorkRequest add() {
    SendWorkRequest wr = requests[batched];
    wr.signalled = true;
    wr.next = null;
    if (batched > 0) {
      requests[batched - 1].next = wr;
    }
    batched++;
    freeSends--;
    return wr;
  }

  /**
   * Posts the batch.
   *
   * @return 0, or what the device said when it didn't take all: a connection never posts more than
   *     its queues hold, so anything but everything is a failure of the queue pair
   */
  int post() {
    if (batched == 0) {
      return 0;
    }
    @Nullable SendWorkRequest first = requests[0];
    int count = batched;
    batched = 0;
    long nowNs = System.nanoTime();
    for (int i = 0; i < count; i++) {
      postedAtNs[posted++ & postedAtNs.length - 1] = nowNs;
    }
    int taken = pair.queuePair().postSend(first);
    return taken == count ? 0 : Math.min(taken, -1);
  }

  /** A request completed. Returns how long it took, in ns. */
  long sendCompleted(long nowNs) {
    freeSends++;
    return nowNs - postedAtNs[completed++ & postedAtNs.length - 1];
  }

  /** A receive was used up; posts new ones by the batch. Returns 0 or a negative errno. */
  int receiveConsumed() {
    if (++consumedReceives < pair.receiveDepth() / 4) {
      return 0;
    }
    int count = consumedReceives;
    consumedReceives = 0;
    return pair.queuePair().postEmptyReceives(index, count);
  }
}
