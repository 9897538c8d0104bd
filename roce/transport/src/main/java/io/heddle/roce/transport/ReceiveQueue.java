package io.heddle.roce.transport;

import io.heddle.platform.Memory;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Queue of posted receives, from the posting thread to the lock holder. Equal receives that are
 * posted together share one row of the queue: hundreds of receives for immediates take a single
 * row.
 *
 * <p>Memory order: {@link #post} releases {@code posted} after filling rows, and {@link #isEmpty}
 * acquires it. {@link #take} releases {@code taken} after its last read of a row, and {@code post}
 * acquires it before filling rows.
 */
public final class ReceiveQueue {
  private static final VarHandle POSTED = index("posted");
  private static final VarHandle TAKEN = index("taken");

  /* id 8 | address 8 | length 4 | lkey 4 | index after the row's last receive 8 */
  private static final int ROW_BYTES = 32;
  private static final int ADDRESS = 8;
  private static final int LENGTH = 16;
  private static final int LKEY = 20;
  private static final int END = 24;

  private final int depth;
  private final int mask;
  private final long rows;

  /*
   * Numbers of rows so far. The posting thread counts posted rows, which become visible with the
   * field posted. The lock's holder counts taken rows.
   */
  private long rowsPosted;
  private long rowsTaken;

  @SuppressWarnings("unused") /* accessed through POSTED */
  private volatile long posted;

  @SuppressWarnings("unused") /* accessed through TAKEN */
  private volatile long taken;

  /**
   * @param rows address of {@link #bytes} bytes of zeroed memory
   */
  public ReceiveQueue(int depth, long rows) {
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
      return MethodHandles.lookup().findVarHandle(ReceiveQueue.class, field, long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /**
   * Adds {@code count} equal receives, or none if they don't all fit. Called by the posting thread.
   */
  public boolean post(long id, long address, int lengthBytes, int lkey, int count) {
    long at = (long) POSTED.get(this);
    if (at + count - (long) TAKEN.getAcquire(this) > depth) {
      return false;
    }
    if (count <= 0) {
      return true;
    }
    /*
     * Each row still holds at least one receive. So at most as many rows are in use as receives are
     * posted.
     */
    long row = row(rowsPosted++);
    Memory.setLong(row, id);
    Memory.setLong(row + ADDRESS, address);
    Memory.setInt(row + LENGTH, lengthBytes);
    Memory.setInt(row + LKEY, lkey);
    Memory.setLong(row + END, at + count);
    POSTED.setRelease(this, at + count);
    return true;
  }

  /** Clears the queue. Called under the progress lock and without concurrent posts. */
  public void clear() {
    long end = (long) POSTED.getAcquire(this);
    rowsTaken = rowsPosted;
    TAKEN.setRelease(this, end);
  }

  /*
   * Only the holder of the progress lock calls the methods below. The accessors return fields of
   * the oldest receive.
   */

  public boolean isEmpty() {
    return (long) TAKEN.get(this) == (long) POSTED.getAcquire(this);
  }

  public long id() {
    return Memory.getLong(row(rowsTaken));
  }

  public long address() {
    return Memory.getLong(row(rowsTaken) + ADDRESS);
  }

  public int lengthBytes() {
    return Memory.getInt(row(rowsTaken) + LENGTH);
  }

  public int lkey() {
    return Memory.getInt(row(rowsTaken) + LKEY);
  }

  public void take() {
    long next = (long) TAKEN.get(this) + 1;
    if (next == Memory.getLong(row(rowsTaken) + END)) {
      rowsTaken++;
    }
    TAKEN.setRelease(this, next);
  }
}
