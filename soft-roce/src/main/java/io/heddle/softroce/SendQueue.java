package io.heddle.softroce;

import io.heddle.verbs.SendWorkRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Send requests between the thread that posts them and the lock holder that turns them into
 * packets.
 *
 * <p>Three indices, each with one writer: {@code posted} (the poster), {@code started} and {@code
 * completed} (the lock holder). Pairings: {@link #post} releases {@code posted} after filling rows,
 * {@link #posted} acquires it; {@link #complete} releases {@code completed} after its last look at
 * a row, {@code post} acquires it before filling.
 */
final class SendQueue {
  private static final VarHandle POSTED = index("posted");
  private static final VarHandle COMPLETED = index("completed");
  private static final SendWorkRequest.Operation[] OPERATIONS = SendWorkRequest.Operation.values();

  private final int depth;
  private final int mask;
  private final long[] ids;
  private final byte[] operations;
  private final boolean[] signals;
  private final long[] localAddresses;
  private final int[] lengths;
  private final int[] lkeys;
  private final long[] remoteAddresses;
  private final int[] rkeys;
  private final int[] immediates;
  /* Sequence number of the last packet; of the lock holder. */
  private final long[] lastPsns;

  @SuppressWarnings("unused") /* by POSTED */
  private volatile long posted;

  @SuppressWarnings("unused") /* by COMPLETED */
  private volatile long completed;

  private long started;
  private long posterCompleted; /* the poster's last look at completed */

  SendQueue(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(2, depth) - 1) << 1;
    mask = size - 1;
    ids = new long[size];
    operations = new byte[size];
    signals = new boolean[size];
    localAddresses = new long[size];
    lengths = new int[size];
    lkeys = new int[size];
    remoteAddresses = new long[size];
    rkeys = new int[size];
    immediates = new int[size];
    lastPsns = new long[size];
  }

  private static VarHandle index(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(SendQueue.class, field, long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /**
   * Takes requests of the list until one is malformed or the queue is full, and returns how many.
   * Poster.
   */
  int post(@Nullable SendWorkRequest first) {
    long from = (long) POSTED.get(this);
    long at = from;
    for (SendWorkRequest request = first; request != null; request = request.next) {
      if (at - posterCompleted >= depth) {
        posterCompleted = (long) COMPLETED.getAcquire(this);
        if (at - posterCompleted >= depth) {
          break;
        }
      }
      if (request.lengthBytes < 0) {
        break;
      }
      int row = (int) at & mask;
      ids[row] = request.id;
      operations[row] = (byte) request.operation.ordinal();
      signals[row] = request.signalled;
      localAddresses[row] = request.localAddress;
      lengths[row] = request.lengthBytes;
      lkeys[row] = request.lkey;
      remoteAddresses[row] = request.remoteAddress;
      rkeys[row] = request.rkey;
      immediates[row] = request.immediate;
      at++;
    }
    POSTED.setRelease(this, at);
    return (int) (at - from);
  }

  /** Forgets everything; under the progress lock and with no poster at work. */
  void clear() {
    long end = (long) POSTED.getAcquire(this);
    started = end;
    COMPLETED.setRelease(this, end);
  }

  /* From here on: the lock holder. */

  /** Nothing is started any more. */
  void restart() {
    started = (long) COMPLETED.get(this);
  }

  long posted() {
    return (long) POSTED.getAcquire(this);
  }

  long started() {
    return started;
  }

  void start() {
    started++;
  }

  long completed() {
    return (long) COMPLETED.get(this);
  }

  void complete() {
    COMPLETED.setRelease(this, (long) COMPLETED.get(this) + 1);
  }

  long id(long index) {
    return ids[(int) index & mask];
  }

  SendWorkRequest.Operation operation(long index) {
    return OPERATIONS[operations[(int) index & mask]];
  }

  boolean signalled(long index) {
    return signals[(int) index & mask];
  }

  long localAddress(long index) {
    return localAddresses[(int) index & mask];
  }

  int lengthBytes(long index) {
    return lengths[(int) index & mask];
  }

  int lkey(long index) {
    return lkeys[(int) index & mask];
  }

  long remoteAddress(long index) {
    return remoteAddresses[(int) index & mask];
  }

  int rkey(long index) {
    return rkeys[(int) index & mask];
  }

  int immediate(long index) {
    return immediates[(int) index & mask];
  }

  long lastPsn(long index) {
    return lastPsns[(int) index & mask];
  }

  void setLastPsn(long index, long psn) {
    lastPsns[(int) index & mask] = psn;
  }
}
