package io.heddle.roce.transport;

import io.heddle.platform.Memory;
import io.heddle.verbs.SendWorkRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Queue of send requests, from the posting thread to the lock holder, which builds packets from
 * them.
 *
 * <p>The queue has three indices, each with one writer: the posting thread writes {@code posted},
 * the lock holder {@code started} and {@code completed}. Memory order: {@link #post} releases
 * {@code posted} after filling rows, and {@link #posted} acquires it. {@link #complete} releases
 * {@code completed} after its last read of a row, and {@code post} acquires it before filling rows.
 */
public final class SendQueue {
  private static final VarHandle POSTED = index("posted");
  private static final VarHandle COMPLETED = index("completed");
  private static final SendWorkRequest.Operation[] OPERATIONS = SendWorkRequest.Operation.values();

  /*
   * A row is one cache line; untouched rows take no memory. The lock's holder writes the last
   * packet's sequence number, the posting thread all other fields:
   *
   * id 8 | local address 8 | remote address 8 | last packet's sequence number 8
   * | length 4 | lkey 4 | rkey 4 | immediate 4 | operation 4 | signalled 4
   */
  private static final int ROW_BYTES = 64;
  private static final int LOCAL = 8;
  private static final int REMOTE = 16;
  private static final int LAST_PSN = 24;
  private static final int LENGTH = 32;
  private static final int LKEY = 36;
  private static final int RKEY = 40;
  private static final int IMMEDIATE = 44;
  private static final int OPERATION = 48;
  private static final int SIGNALLED = 52;

  private final int depth;
  private final int mask;
  private final long rows;

  @SuppressWarnings("unused") /* accessed through POSTED */
  private volatile long posted;

  @SuppressWarnings("unused") /* accessed through COMPLETED */
  private volatile long completed;

  private long started;
  private long posterCompleted; /* value of completed that the posting thread last read */

  /**
   * @param rows address of {@link #bytes} bytes of zeroed memory
   */
  public SendQueue(int depth, long rows) {
    this.depth = depth;
    this.rows = rows;
    mask = rows(depth) - 1;
  }

  private static int rows(int depth) {
    return Integer.highestOneBit(Math.max(2, depth) - 1) << 1;
  }

  /** Returns the memory size of a queue of this depth, in bytes. */
  public static int bytes(int depth) {
    return rows(depth) * ROW_BYTES;
  }

  private long row(long index) {
    return rows + (index & mask) * ROW_BYTES;
  }

  private static VarHandle index(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(SendQueue.class, field, long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /**
   * Accepts requests of the list until one is malformed or the queue is full. Returns the number of
   * accepted requests. Called by the posting thread.
   */
  public int post(@Nullable SendWorkRequest first) {
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
      long row = row(at);
      Memory.setLong(row, request.id);
      Memory.setLong(row + LOCAL, request.localAddress);
      Memory.setLong(row + REMOTE, request.remoteAddress);
      Memory.setInt(row + LENGTH, request.lengthBytes);
      Memory.setInt(row + LKEY, request.lkey);
      Memory.setInt(row + RKEY, request.rkey);
      Memory.setInt(row + IMMEDIATE, request.immediate);
      Memory.setInt(row + OPERATION, request.operation.ordinal());
      Memory.setInt(row + SIGNALLED, request.signalled ? 1 : 0);
      at++;
    }
    POSTED.setRelease(this, at);
    return (int) (at - from);
  }

  /** Clears the queue. Called under the progress lock and without concurrent posts. */
  public void clear() {
    long end = (long) POSTED.getAcquire(this);
    started = end;
    COMPLETED.setRelease(this, end);
  }

  /* Only the holder of the progress lock calls the methods below. */

  /** Resets the started index to the completed one. */
  void restart() {
    started = (long) COMPLETED.get(this);
  }

  public long posted() {
    return (long) POSTED.getAcquire(this);
  }

  public long started() {
    return started;
  }

  public void start() {
    started++;
  }

  public long completed() {
    return (long) COMPLETED.get(this);
  }

  public void complete() {
    COMPLETED.setRelease(this, (long) COMPLETED.get(this) + 1);
  }

  public long id(long index) {
    return Memory.getLong(row(index));
  }

  public SendWorkRequest.Operation operation(long index) {
    return OPERATIONS[Memory.getInt(row(index) + OPERATION)];
  }

  public boolean isSignalled(long index) {
    return Memory.getInt(row(index) + SIGNALLED) != 0;
  }

  public long localAddress(long index) {
    return Memory.getLong(row(index) + LOCAL);
  }

  public int lengthBytes(long index) {
    return Memory.getInt(row(index) + LENGTH);
  }

  public int lkey(long index) {
    return Memory.getInt(row(index) + LKEY);
  }

  public long remoteAddress(long index) {
    return Memory.getLong(row(index) + REMOTE);
  }

  public int rkey(long index) {
    return Memory.getInt(row(index) + RKEY);
  }

  public int immediate(long index) {
    return Memory.getInt(row(index) + IMMEDIATE);
  }

  public long lastPsn(long index) {
    return Memory.getLong(row(index) + LAST_PSN);
  }

  public void setLastPsn(long index, long psn) {
    Memory.setLong(row(index) + LAST_PSN, psn);
  }
}
