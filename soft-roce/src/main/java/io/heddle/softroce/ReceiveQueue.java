package io.heddle.softroce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Posted receives between the thread that posts them and the lock holder that consumes them.
 *
 * <p>Pairings: posting releases {@code posted} after filling rows, {@link #isEmpty} acquires it;
 * {@link #take} releases {@code taken} after its last look at a row, posting acquires it before
 * filling.
 */
final class ReceiveQueue {
  private static final VarHandle POSTED = index("posted");
  private static final VarHandle TAKEN = index("taken");

  private final int depth;
  private final int mask;
  private final long[] ids;
  private final long[] addresses;
  private final int[] lengths;
  private final int[] lkeys;

  @SuppressWarnings("unused") /* by POSTED */
  private volatile long posted;

  @SuppressWarnings("unused") /* by TAKEN */
  private volatile long taken;

  ReceiveQueue(int depth) {
    this.depth = depth;
    int size = Integer.highestOneBit(Math.max(2, depth) - 1) << 1;
    mask = size - 1;
    ids = new long[size];
    addresses = new long[size];
    lengths = new int[size];
    lkeys = new int[size];
  }

  private static VarHandle index(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(ReceiveQueue.class, field, long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Adds {@code count} equal receives, or none where they don't all fit. Poster. */
  boolean post(long id, long address, int lengthBytes, int lkey, int count) {
    long at = (long) POSTED.get(this);
    if (at + count - (long) TAKEN.getAcquire(this) > depth) {
      return false;
    }
    for (int i = 0; i < count; i++) {
      int row = (int) (at + i) & mask;
      ids[row] = id;
      addresses[row] = address;
      lengths[row] = lengthBytes;
      lkeys[row] = lkey;
    }
    POSTED.setRelease(this, at + count);
    return true;
  }

  /** Forgets everything; under the progress lock and with no poster at work. */
  void clear() {
    TAKEN.setRelease(this, (long) POSTED.getAcquire(this));
  }

  /* From here on: the lock holder. The accessors speak of the oldest receive. */

  boolean isEmpty() {
    return (long) TAKEN.get(this) == (long) POSTED.getAcquire(this);
  }

  private int row() {
    return (int) (long) TAKEN.get(this) & mask;
  }

  long id() {
    return ids[row()];
  }

  long address() {
    return addresses[row()];
  }

  int lengthBytes() {
    return lengths[row()];
  }

  int lkey() {
    return lkeys[row()];
  }

  void take() {
    TAKEN.setRelease(this, (long) TAKEN.get(this) + 1);
  }
}
